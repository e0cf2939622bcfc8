import Foundation
import Persist

struct SavedNote: Sendable {
  init(_ note: ManagedObject) {}
}

struct VersionMismatch: Error {}

struct Server {
  let container: PersistentContainer

  func noSuchNote(_ id: UUID) -> PersistenceError { PersistenceError(.objectNotFound, "There is no note \(id).") }

  // <block 0>

  // <block 3>

  func added(_ id: ManagedObjectID, amount: Int) async throws {
    // <block 1>
    _ = total
  }

  func changed(_ id: ManagedObjectID, title: String, expectedVersion: Int64) async throws {
    // <block 2>
    _ = version
  }
}

func opened(at url: URL, model: ManagedObjectModel) throws {
  // <block 4>
  _ = container
}

func closed(_ coordinator: PersistentStoreCoordinator) throws {
  // <block 5>
}

func copied(_ container: PersistentContainer, to copy: URL) async throws {
  // <block 6>
}
