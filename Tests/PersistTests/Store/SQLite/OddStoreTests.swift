import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools

/// Stores whose own records differ from those of the newest frameworks.
@Suite("Stores with unusual records", .aboutFiles("stores that other programs made"))
struct OddStoreTests {
  private let archive: Data
  private let model: ManagedObjectModel

  init() throws {
    let builder = ArchiveBuilder()
    let item = builder.entity("Item", ["name": builder.attribute("name", 700)])
    let note = builder.entity("Note", ["text": builder.attribute("text", 700)])
    let root = builder.object(
      "NSManagedObjectModel", ["NSEntities": builder.dictionary(["Item": item, "Note": note])])
    archive = try builder.data(root: root)
    var description = try XcodeModelArchive.model(fromArchive: archive).description
    description.configurations = ["Cloud": ["Item"], "Local": ["Note"]]
    model = try ManagedObjectModel(description)
  }

  /// A store as Core Data creates it for the entities of `hashes`, with two items.
  private func withStore(
    hashes: [String: Data] = ["Item": Data([1]), "Note": Data([2])], cache: Data?, _ sql: [String] = [],
    _ body: (URL) throws -> Void
  ) throws {
    try withTemporaryStore { url in
      let connection = try SQLiteConnection(url, mode: .create)
      let metadata = StoreMetadata(newStore: UUID(), versionHashes: hashes, versionIdentifiers: [])
      let tables = hashes.keys.sorted().map { name in
        let column = name == "Item" ? "ZNAME" : "ZTEXT"
        return "CREATE TABLE Z\(name.uppercased()) "
          + "(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, \(column) VARCHAR)"
      }
      let names = hashes.keys.sorted().enumerated().map {
        "INSERT INTO Z_PRIMARYKEY VALUES (\($0.offset + 1), '\($0.element)', 0, 2)"
      }
      let common = [
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)", "INSERT INTO Z_MODELCACHE VALUES (NULL)",
      ]
      for line in common + tables + names { try connection.execute(SQLText(checked: line)) }
      if hashes["Item"] != nil {
        try connection.execute("INSERT INTO ZITEM VALUES (1, 1, 1, 'a'), (2, 1, 1, 'b')")
      }
      try metadata.write(to: connection)
      if let cache { try connection.execute("INSERT INTO Z_MODELCACHE VALUES (\(value: .blob(cache)))") }
      for line in sql { try connection.execute(SQLText(checked: line)) }
      connection.close()
      try body(url)
    }
  }

  private func items(_ url: URL, _ registry: ModelRegistry? = nil) throws -> Int {
    let contents = try StoreContents(readingStoreAt: url, registry: registry)
    return try contents.count(of: contents.model.entity(named: "Item"))
  }

  private var registry: ModelRegistry {
    ModelRegistry(versions: [
      ModelVersion(name: "1", model: model, coreDataHashes: ["Item": Data([1]), "Note": Data([2])])
    ])
  }

  @Test("An uncompressed embedded model can be read")
  func uncompressed() throws {
    try withStore(cache: archive) { url in
      let found = try StoreIdentification.identify(storeAt: url)
      #expect(found.origin == .embedded)
      #expect(try items(url) == 2)
    }
  }

  @Test("A damaged embedded model is ignored in favor of the given models, and reported", arguments: [
    Data([0]), Data("bplist00".utf8), Data("garbage that isn't anything".utf8),
  ])
  func damaged(_ cache: Data) throws {
    try withStore(cache: cache) { url in
      let byColumns = ModelRegistry(versions: [ModelVersion(name: "1", model: model)])
      let found = try StoreIdentification.identify(storeAt: url, registry: byColumns)
      #expect(found.origin == .columns && found.version?.name == "1")
      #expect(found.embeddedModelError?.code == .malformedFile)
      #expect(try items(url, byColumns) == 2)
      let error = #expect(throws: PersistenceError.self) { try StoreIdentification.identify(storeAt: url) }
      #expect(error?.code == .missingSourceModel)
    }
  }

  @Test("An embedded model that doesn't fit the tables is ignored in favor of the given models")
  func stale() throws {
    let sql = ["ALTER TABLE ZITEM ADD COLUMN ZSIZE INTEGER", "ALTER TABLE ZNOTE RENAME COLUMN ZTEXT TO ZBODY"]
    try withStore(cache: archive, sql) { url in
      var description = model.description
      description.entities[0].attributes.append(AttributeDescription("size", .int32))
      description.entities[1].attributes[0].name = "body"
      let newer = try ManagedObjectModel(description)
      let versions = [ModelVersion(name: "1", model: model), ModelVersion(name: "2", model: newer)]
      let found = try StoreIdentification.identify(storeAt: url, registry: ModelRegistry(versions: versions))
      #expect(found.version?.name == "2")
      #expect(found.embeddedModelError?.code == .incompatibleModel)
    }
  }

  @Test("Unusual rows of metadata and entity numbers don't prevent reading", arguments: [
    ["INSERT INTO Z_METADATA VALUES (0, '', NULL), (2, 'x', NULL)"],
    ["UPDATE Z_METADATA SET Z_PLIST = NULL"], ["DELETE FROM Z_PRIMARYKEY"],
    ["DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Note'"], ["UPDATE Z_PRIMARYKEY SET Z_NAME = 'Old' WHERE Z_ENT = 2"],
    ["INSERT INTO Z_PRIMARYKEY VALUES (9, 'Gone', 0, 1), (10, 'Item', 0, 1), (-1, 'X', 0, 0), (20001, 'Y', 0, 0)"],
    ["UPDATE Z_PRIMARYKEY SET Z_MAX = NULL, Z_SUPER = NULL"], ["UPDATE Z_PRIMARYKEY SET Z_MAX = 'many'"],
    ["ALTER TABLE ZITEM RENAME TO y", "ALTER TABLE y RENAME TO zitem", "ALTER TABLE zitem RENAME ZNAME TO zname"],
  ])
  func rows(_ sql: [String]) throws {
    try withStore(cache: archive, sql) { url in
      let metadata = try StoreIdentification.metadata(storeAt: url)
      #expect(metadata.identifier.count == 36)
      #expect(try items(url) == 2)
      #expect(try items(url, registry) == 2)
    }
  }

  @Test("A store of one configuration is identified by that one's hashes, and has no rows of the others")
  func configuration() throws {
    try withStore(hashes: ["Item": Data([1])], cache: nil) { url in
      let found = try StoreIdentification.identify(storeAt: url, registry: registry)
      #expect(found.version?.name == "1" && found.origin == .registry)
      #expect(found.tableMap.differences == [] && found.tableMap.unexplained == [])
      let byColumns = ModelRegistry(versions: [ModelVersion(name: "1", model: model)])
      #expect(try StoreIdentification.identify(storeAt: url, registry: byColumns).origin == .columns)
      let contents = try StoreContents(readingStoreAt: url, registry: registry)
      #expect(try contents.count(of: contents.model.entity(named: "Item")) == 2)
      let note = try contents.model.entity(named: "Note")
      #expect(try contents.count(of: note) == 0)
      try contents.forEachObject(of: note) { _ in Issue.record("There are no notes.") }
      try checkStore(at: url, registry: registry) { Issue.record("\($0)") }
    }
    // Different hashes, or entities of no configuration, are those of another model.
    try withStore(hashes: ["Item": Data([7])], cache: nil) { url in
      #expect(throws: PersistenceError.self) { try StoreIdentification.identify(storeAt: url, registry: registry) }
    }
  }

  @Test("A coordinator opens a store of one configuration together with one of another")
  func coordinator() throws {
    try withStore(hashes: ["Item": Data([1])], cache: nil) { items in
      try withStore(hashes: ["Note": Data([2])], cache: nil) { notes in
        let coordinator = PersistentStoreCoordinator(model: model, registry: registry)
        try coordinator.addStore(at: items, options: StoreOptions(configuration: "Cloud"))
        try coordinator.addStore(at: notes, options: StoreOptions(configuration: "Local"))
        let context = ManagedObjectContext(coordinator)
        #expect(try context.fetch(FetchRequest("Item")).count == 2)
        #expect(try context.fetch(FetchRequest("Note")).isEmpty)
        let note = try context.create("Note")
        note["text"] = "x"
        try context.save()
        #expect(try context.count(for: FetchRequest("Note")) == 1)
      }
    }
  }
}
