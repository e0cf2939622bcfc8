import Foundation
import Persist

struct SavedNote: Sendable {
  init(_ note: ManagedObject) {}
}

struct VersionMismatch: Error {}

struct Server {
  let container: PersistentContainer

  func noSuchNote(_ id: UUID) -> PersistenceError { PersistenceError(.objectNotFound, "There is no note \(id).") }

  // <block 3>

  // <block 6>

  func added(_ id: ManagedObjectID, amount: Int) async throws {
    // <block 4>
    _ = total
  }

  func changed(_ id: ManagedObjectID, title: String, expectedVersion: Int64) async throws {
    // <block 5>
    _ = version
  }
}

func opened(at url: URL, model: ManagedObjectModel) throws {
  // <block 7>
  _ = container
}

func closed(_ coordinator: PersistentStoreCoordinator) throws {
  // <block 8>
}

func copied(_ container: PersistentContainer, to copy: URL) async throws {
  // <block 9>
}
