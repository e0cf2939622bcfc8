import Foundation
import Persist
import PersistSync

func synchronized(_ coordinator: PersistentStoreCoordinator, _ url: URL, _ sharedFolder: URL) async throws {
  // <block 0>
}

func listed(_ replica: Replica, _ hub: FolderHub) async throws {
  // <block 1>
}
