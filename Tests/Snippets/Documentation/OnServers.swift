import Foundation
import InMemoryTracing
import Persist
import PersistPostgreSQL
import Tracing

struct SavedNote: Sendable {
  init(_ note: ManagedObject) {}
}

struct VersionMismatch: Error {}

struct Server {
  let container: PersistentContainer

  func noSuchNote(_ id: UUID) -> PersistenceError { PersistenceError(.objectNotFound, "There is no note \(id).") }

  // <block 6>

  // <block 9>

  func added(_ id: ManagedObjectID, amount: Int) async throws {
    // <block 7>
    _ = total
  }

  func changed(_ id: ManagedObjectID, title: String, expectedVersion: Int64) async throws {
    // <block 8>
    _ = version
  }
}

// Those of Hummingbird and swift-configuration, which aren't dependencies of this package.
struct TracingMiddleware {}

struct Router {
  func add(middleware: TracingMiddleware) {}
  func get(_ path: String, _ answer: @escaping @Sendable (Int, Int) async throws -> [String]) {}
}

struct Settings {
  func string(forKey key: String, isSecret: Bool = false) -> String? { nil }
  func string(forKey key: String, default value: String) -> String { value }
}

func located(_ settings: Settings) throws {
  // <block 3>
  _ = store
}

func traced(_ router: Router) {
  // <block 4>
  // <block 5>
}

func opened(at url: URL, model: ManagedObjectModel) throws {
  // <block 10>
  _ = container
}

func closed(_ coordinator: PersistentStoreCoordinator) throws {
  // <block 11>
}

func copied(_ container: PersistentContainer, to copy: URL) async throws {
  // <block 12>
}
