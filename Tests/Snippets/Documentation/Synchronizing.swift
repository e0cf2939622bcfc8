import Foundation
import Persist
import PersistSync

func synchronized(_ coordinator: PersistentStoreCoordinator, _ url: URL, _ sharedFolder: URL) async throws {
  // <block 0>
}

func excluded() {
  // <block 1>
  _ = range
}

func mapped(_ coordinator: PersistentStoreCoordinator, _ mapping: MappingModel) throws {
  // <block 2>
  _ = replica
}

func moved(_ replica: Replica, _ hub: FolderHub) async throws {
  // <block 3>
}

func scoped(_ replica: Replica, _ folder: URL, _ user: String) throws {
  // <block 4>
  _ = hub
}

func reviewed(_ replica: Replica, _ folder: URL, _ user: String, _ scope: SyncScope) throws {
  // <block 5>
  _ = hub
}

func listed(_ replica: Replica, _ hub: FolderHub) async throws {
  // <block 6>
}
