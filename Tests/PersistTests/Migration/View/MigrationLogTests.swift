import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("The log of the migrations of a store")
struct MigrationLogTests {
  private func versions(_ count: Int) throws -> [ModelVersion] {
    try (1...count).map { number in
      ModelVersion(
        name: "V\(number)",
        model: try model(
          EntityDescription("Item", attributes: (0..<number).map { AttributeDescription("a\($0)", .string) })))
    }
  }

  @Test("A migration is recorded, whatever its method: date, from, to, method, rows, seconds")
  func entries() throws {
    let registry = ModelRegistry(versions: try versions(4))
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[0].model, at: url)
      try MadeStore.fill(registry.versions[0].model, at: url, rows: 7, seed: 1)
      let start = Date()
      try AutomaticMigrator().migrate(storeAt: url, to: registry.versions[1], registry: registry)
      try AutomaticMigrator(alwaysCopies: true).migrate(storeAt: url, to: registry.versions[3], registry: registry)
      let metadata = try PersistentStoreCoordinator.metadata(at: url)
      let log = metadata.migrationLog
      #expect(log.map(\.from) == ["V1", "V2"])
      #expect(log.map(\.to) == ["V2", "V4"])
      #expect(log.map(\.way) == [.inPlace, .copy])
      #expect(log.map(\.rows) == [7, 7])
      for entry in log {
        #expect(entry.seconds > 0 && entry.seconds < 600)
        #expect(entry.date >= start.addingTimeInterval(-1) && entry.date <= Date().addingTimeInterval(1))
      }
    }
  }

  @Test(
    "A migration run manually by a manager is recorded in the store that it creates",
    .aboutFiles("a manager's migration from file to file"))
  func byHand() throws {
    let (old, new) = (try versions(2)[0].model, try versions(2)[1].model)
    try withTemporaryStore { url in
      try MadeStore.make(old, at: url)
      try MadeStore.fill(old, at: url, rows: 7, seed: 1)
      let target = otherStore("new", beside: url)
      var mapping = try MappingModel.inferred(from: old, to: new)
      (mapping.sourceVersion, mapping.destinationVersion) = ("V1", "V2")
      try MigrationManager(sourceModel: old, destinationModel: new)
        .migrateStore(from: url, to: target, mappingModel: mapping)
      let log = try PersistentStoreCoordinator.metadata(at: target).migrationLog
      #expect(log.map { [$0.from, $0.to] } == [["V1", "V2"]])
      #expect(log.map(\.way) == [.copy])
      #expect(log.map(\.rows) == [7])
      try #expect(PersistentStoreCoordinator.metadata(at: url).migrationLog == [])
    }
  }

  @Test("Nothing is recorded if nothing ran: an up-to-date store, a failed migration")
  func nothing() throws {
    let registry = ModelRegistry(versions: try versions(2))
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[0].model, at: url)
      #expect(throws: PersistenceError.self) {
        try AutomaticMigrator { _ in false }.migrate(storeAt: url, to: registry.versions[1], registry: registry)
      }
      try AutomaticMigrator().migrate(storeAt: url, to: registry.versions[0], registry: registry)
      try #expect(PersistentStoreCoordinator.metadata(at: url).migrationLog == [])
    }
  }

  @Test("Of many migrations, the latest are kept")
  func bounded() throws {
    var metadata = StoreMetadata(identifier: "x", values: ["own": .string("kept")])
    for number in 0..<300 {
      metadata.log(
        MigrationLogEntry(date: Date(), from: "\(number)", to: "\(number + 1)", way: .inPlace, rows: nil, seconds: 0.5))
    }
    #expect(metadata.migrationLog.count == StoreMetadata.migrationLogLimit)
    #expect(metadata.migrationLog.last?.to == "300")
    #expect(metadata.migrationLog.last?.rows == nil)
    #expect(metadata.values["own"] == .string("kept"))
  }

  @Test("The application's metadata can't replace the log, and Core Data reads them as a plain property list")
  func metadata() throws {
    let registry = ModelRegistry(versions: try versions(2))
    try withTemporaryStore { url in
      try MadeStore.make(registry.versions[0].model, at: url)
      var own = try PersistentStoreCoordinator.metadata(at: url)
      try AutomaticMigrator().migrate(storeAt: url, to: registry.versions[1], registry: registry)
      own.values["lastImport"] = .integer(7)
      try PersistentStoreCoordinator.setMetadata(own, at: url)
      let after = try PersistentStoreCoordinator.metadata(at: url)
      #expect(after.values["lastImport"] == .integer(7))
      #expect(after.migrationLog.count == 1)

      let store = try RawStore(url, mode: .readOnly)
      defer { store.close() }
      let bytes = try #require(try store.rows("SELECT Z_PLIST FROM Z_METADATA").first?.values.first?.dataValue)
      let list = try PropertyListSerialization.propertyList(from: bytes, format: nil) as? [String: Any]
      let log = try #require(list?["PersistMigrationLog"] as? [[String: Any]])
      #expect(log.first?["date"] is Date)
      #expect(log.first?["to"] as? String == "V2")
    }
  }
}
