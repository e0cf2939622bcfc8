import Foundation
import PersistTestSupport
import Testing

#if canImport(PersistPostgreSQL)
  import PersistPostgreSQL
#endif

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// An engine to which the contract is applied, and the locations of its stores.
enum EngineUnderTest: String, CaseIterable, CustomTestStringConvertible {
  case sqliteFile, sqliteMemory, postgreSQL

  /// All engines of this machine.
  static let available: [EngineUnderTest] = allCases.filter { $0 != .postgreSQL || hasServer }

  /// Whether there is a PostgreSQL server; prints the reason otherwise.
  private static let hasServer: Bool = {
    #if canImport(PersistPostgreSQL)
      switch TestServer.url {
      case .success: return true
      case .failure(let error): print("No tests of PostgreSQL: \(error.reason)")
      }
    #else
      print("No tests of PostgreSQL: libpq isn't installed.")
    #endif
    return false
  }()

  var testDescription: String { rawValue }
  /// Whether a store persists after closing.
  var isPersistent: Bool { self != .sqliteMemory }

  /// Runs `body` with a location that has no store yet.
  func withLocation(_ body: (StoreLocation) throws -> Void) throws {
    switch self {
    case .sqliteFile: try withTemporaryFile { try body(.file($0)) }
    case .sqliteMemory: try body(.memory)
    case .postgreSQL:
      #if canImport(PersistPostgreSQL)
        try TestServer.withSchema { try body(.postgreSQL($0)) }
      #endif
    }
  }

  /// Runs `body` with a new store of a model, and closes it.
  func withStore(of model: ManagedObjectModel, _ body: (any PersistentStore) throws -> Void) throws {
    try withLocation { location in
      let store = try location.engine.createStore(at: location, model: model, options: StoreOptions())
      try body(store)
      try store.close()
    }
  }
}

extension RowSource {
  /// Commits writes.
  ///
  /// - Returns: The permanent identifiers of the inserted rows, in the order of the writes.
  func insertedIDs(_ writes: RowWrites) throws -> [ManagedObjectID] {
    zip(writes.inserts, try commit(writes).insertedKeys).map { insert, key in
      ManagedObjectID(entityName: insert.entity.name, storeIdentifier: identifier, key: .permanent(key))
    }
  }
}
