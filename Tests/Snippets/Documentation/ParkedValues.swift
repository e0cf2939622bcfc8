import Foundation
import Persist

func parked(_ url: URL, model: ManagedObjectModel) throws {
  // <block 0>
}

func expiring(_ coordinator: PersistentStoreCoordinator, _ url: URL) throws {
  // <block 1>
}

func discarded(_ coordinator: PersistentStoreCoordinator, _ url: URL) throws {
  // <block 2>
}
