import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("A store's description of itself", .aboutFiles("the catalog of a file"))
struct StoreCatalogTests {
  private let model: ManagedObjectModel

  init() throws {
    model = try ManagedObjectModel(
      ModelDescription(
        entities: [EntityDescription("Item", attributes: [AttributeDescription("name", .string)])],
        versionIdentifiers: ["7"]))
  }

  /// A store's own tables, without those of entities.
  private func makeStore(_ url: URL) throws -> SQLiteConnection {
    let connection = try SQLiteConnection(url, mode: .create)
    try connection.execute(
      "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)")
    try connection.execute(
      "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)")
    try connection.execute("CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)")
    return connection
  }

  @Test("Metadata, including unknown keys, are read back after reopening")
  func metadata() throws {
    try withTemporaryStore { url in
      var written = StoreMetadata(newStore: UUID(), versionHashes: [:], versionIdentifiers: [])
      written.values["app.key"] = .array([.integer(1), .string("ü"), .data(Data([0, 1]))])
      let connection = try makeStore(url)
      try written.record(model, coreDataHashes: nil, in: connection)
      connection.close()

      let reopened = try SQLiteConnection(url, mode: .readOnly)
      let catalog = try StoreCatalog(reopened)
      #expect(catalog.metadata == written)
      #expect(catalog.metadata.versionIdentifiers == ["7"])
      #expect(catalog.metadata.type == "SQLite")
      #expect(catalog.metadata.versionHashes == model.fingerprints.mapValues(\.bytes))
      #expect(catalog.record?.fingerprints == model.fingerprints)
      #expect(try EmbeddedModel(reopened, catalog: catalog).model?.description == model.description)
    }
  }

  @Test("Core Data's hashes are kept if they are known, and a digest of others isn't")
  func hashes() throws {
    try withTemporaryStore { url in
      let connection = try makeStore(url)
      var metadata = StoreMetadata(newStore: UUID(), versionHashes: ["Old": Data([1])], versionIdentifiers: ["1"])
      metadata.values["NSStoreModelVersionHashesDigest"] = .string("old")
      metadata.values["NSStoreModelVersionChecksumKey"] = .string("old")
      try connection.execute("INSERT INTO Z_MODELCACHE VALUES (x'00')")
      let known = ["Item": Data(repeating: 9, count: 32)]
      try metadata.record(model, coreDataHashes: known, in: connection)
      let catalog = try StoreCatalog(connection)
      #expect(catalog.metadata.versionHashes == known)
      #expect(catalog.metadata.values["NSStoreModelVersionHashesDigest"] == nil)
      #expect(catalog.metadata.values["NSStoreModelVersionChecksumKey"] == nil)
      #expect(try connection.first("SELECT COUNT(*) FROM Z_MODELCACHE") { $0.integer(0) } == 0)
    }
  }

  @Test("Persist's record is no longer valid when Core Data has migrated the store")
  func stale() throws {
    try withTemporaryStore { url in
      let connection = try makeStore(url)
      var metadata = StoreMetadata(newStore: UUID(), versionHashes: [:], versionIdentifiers: [])
      try metadata.record(model, coreDataHashes: nil, in: connection)
      metadata.values["NSStoreModelVersionHashes"] = .dictionary(["Item": .data(Data(repeating: 1, count: 32))])
      try metadata.write(to: connection)
      let catalog = try StoreCatalog(connection)
      #expect(catalog.record == nil)
      guard case .none = try EmbeddedModel(connection, catalog: catalog) else {
        Issue.record("The text of the old model was taken for the store's.")
        return
      }
    }
  }

  @Test("A database that isn't a store, and unreadable metadata, are errors")
  func damaged() throws {
    try withTemporaryStore { url in
      let connection = try SQLiteConnection(url, mode: .create)
      try connection.execute("CREATE TABLE notes (text)")
      #expect(#expect(throws: PersistenceError.self) { try StoreCatalog(connection) }?.code == .notAStore)
    }
    try withTemporaryStore { url in
      let connection = try makeStore(url)
      #expect(#expect(throws: PersistenceError.self) { try StoreCatalog(connection) }?.code == .storeDamaged)
      try connection.execute("INSERT INTO Z_METADATA VALUES (1, 'A', x'62706c69737430300102')")
      #expect(#expect(throws: PersistenceError.self) { try StoreCatalog(connection) }?.code == .storeDamaged)
      try connection.execute("ALTER TABLE Z_METADATA RENAME COLUMN Z_UUID TO OTHER")
      let missing = #expect(throws: PersistenceError.self) { try StoreCatalog(connection) }
      #expect(missing?.code == .storeDamaged && missing?.message.contains("Z_UUID") == true)
    }
  }

  @Test("An unreadable archive counts as an unusable model, not as a damaged store")
  func unusable() throws {
    try withTemporaryStore { url in
      let connection = try makeStore(url)
      try StoreMetadata(newStore: UUID(), versionHashes: [:], versionIdentifiers: []).write(to: connection)
      try connection.execute("INSERT INTO Z_MODELCACHE VALUES (x'deadbeef')")
      guard case .unusable = try EmbeddedModel(connection, catalog: StoreCatalog(connection)) else {
        Issue.record("Garbage was taken for a model.")
        return
      }
    }
  }
}
