import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Seals of stores", .aboutFiles("the seal in Persist's record of the model"))
struct LayoutSealTests {
  private static func library(
    _ identifiers: String..., indexes: [FetchIndexDescription] = [], transient: Bool = false
  ) throws -> ManagedObjectModel {
    var attributes = [AttributeDescription("title", .string), AttributeDescription("pages", .int32)]
    if transient { attributes.append(AttributeDescription("shown", .string, isTransient: true)) }
    return try ManagedObjectModel(
      ModelDescription(
        entities: [
          EntityDescription(
            "Author", attributes: [.init("name", .string)],
            relationships: [.init("books", toMany: "Book", inverse: "author")]),
          EntityDescription(
            "Book", attributes: attributes,
            relationships: [
              .init("author", to: "Author", inverse: "books"), .init("notes", toMany: "Note", inverse: nil),
            ], indexes: indexes),
          EntityDescription("Note", attributes: [.init("text", .string)]),
        ], versionIdentifiers: identifiers))
  }

  private struct Opening {
    let connections: Int
    let statements: [String]

    /// Whether the names and columns of all tables were read.
    var readsSchema: Bool { statements.contains { $0.contains("pragma_table_info") } }
  }

  /// Opens a store and fetches its books.
  private func open(
    _ url: URL, _ model: ManagedObjectModel, _ options: StoreOptions = StoreOptions(), registry: ModelRegistry? = nil,
    then body: (ManagedObjectContext) throws -> Void = { _ in }
  ) throws -> Opening {
    let census = StatementCensus(of: url)
    defer { census.end() }
    let coordinator = PersistentStoreCoordinator(model: model, registry: registry)
    let store = try coordinator.addStore(at: url, options: options)
    let context = ManagedObjectContext(coordinator)
    for book in try context.fetch(FetchRequest("Book", sortedBy: "title")) { _ = book["title"] }
    let opening = Opening(connections: census.connections, statements: census.statements)
    try body(context)
    try coordinator.remove(store)
    return opening
  }

  @Test("Seals of earlier versions of Persist stay valid: fingerprints are combined as data of 32 bytes")
  func fingerprints() throws {
    let model = try Self.library("1")
    let numbers = EntityNumbers.forNewStore(model)
    let mark = StoreMark(schemaVersion: 7, identifier: "A store", propertyList: Data([1, 2, 3]))
    var digest = AccidentDigest()
    digest.combine(3)
    digest.combine(7)
    digest.combine("A store")
    digest.combine(Data([1, 2, 3]))
    digest.combine(Data([4, 5]))
    for number in numbers.byIndex { digest.combine(Int64(number)) }
    for entity in model.entities { digest.combine(entity.fingerprint.bytes) }
    digest.combine("1")
    #expect(LayoutSeal(of: model, recordedAs: Data([4, 5]), mark, numbers).bytes == Data(digest.bytes))
    for entity in model.entities {
      let again = try #require(Fingerprint(bytes: entity.fingerprint.bytes))
      #expect(again == entity.fingerprint && again.words == entity.fingerprint.words)
    }
    #expect(model.entities[0].fingerprint != model.entities[1].fingerprint)
  }

  private func save(_ context: ManagedObjectContext) throws {
    let book = try context.create("Book")
    book["title"] = "Emma"
    book["author"] = try context.create("Author")
    try context.save()
  }

  /// A new store with one book.
  private func withStore(of model: ManagedObjectModel, _ body: (URL) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Seal-\(UUID().uuidString).sqlite")
      _ = try open(url, model, then: save)
      try body(url)
    }
  }

  @Test("A sealed store opens and is read with one connection and few statements, none of which reads the schema")
  func cost() throws {
    let model = try Self.library()
    try withStore(of: model) { url in
      let opening = try open(url, model)
      #expect(opening.connections == 1 && !opening.readsSchema)
      // SQLCipher's settings of a connection take one more.
      #expect(opening.statements.count <= (TestKey.isUsed ? 14 : 13), "\(opening.statements)")
      let reading = try open(url, model, StoreOptions(isReadOnly: true))
      #expect(reading.connections == 1 && !reading.readsSchema)
    }
  }

  @Test("Opening a sealed store takes no more statements for more entities, however deep they inherit")
  func growth() throws {
    let counts = try [(1, 1), (200, 1), (200, 10), (200, 100)].map { count, depth in
      let entities = (0..<count).map { number in
        EntityDescription(
          "Other\(1000 + number)", parent: number % depth == 0 ? nil : "Other\(999 + number)",
          attributes: [.init("name\(number % depth)", .string)])
      }
      let model = try ManagedObjectModel(ModelDescription(entities: try Self.library().description.entities + entities))
      var count = 0
      try withStore(of: model) { url in count = try open(url, model).statements.count }
      return count
    }
    #expect(Set(counts).count == 1, "\(counts)")
  }

  @Test(
    "Whatever another program changes is noticed, and the next save seals the store again",
    arguments: [
      "ALTER TABLE ZBOOK ADD COLUMN ZOTHER VARCHAR", "CREATE INDEX OTHER ON ZBOOK (ZTITLE)",
      "CREATE TABLE OTHER (A)", "CREATE TRIGGER OTHER AFTER DELETE ON ZNOTE BEGIN SELECT 1; END",
      "CREATE VIEW OTHER AS SELECT 1", "DELETE FROM PERSIST_METADATA WHERE KEY = 'layoutSeal'",
      "UPDATE PERSIST_METADATA SET VALUE = x'00' WHERE KEY = 'layoutSeal'",
      "UPDATE Z_METADATA SET Z_UUID = 'A'", "PRAGMA schema_version = 900",
      "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Others' WHERE Z_ENT = 16001",
    ])
  func changed(_ sql: String) throws {
    let model = try Self.library()
    try withStore(of: model) { url in
      try MadeStore.run("INSERT INTO Z_PRIMARYKEY VALUES (16001, 'Other', 0, 0)", at: url)
      _ = try open(url, model, then: save)
      try #expect(!open(url, model).readsSchema)
      try MadeStore.run(sql, at: url)
      try #expect(open(url, model, then: save).readsSchema != sql.contains("Z_PRIMARYKEY"))
      try #expect(!open(url, model).readsSchema)
      let books = try MadeStore.rows("SELECT COUNT(*) FROM ZBOOK", at: url)
      #expect(books == [["3"]])
    }
  }

  @Test(
    "A sealed store that another program changed fundamentally is rejected as any other",
    arguments: [
      "ALTER TABLE ZBOOK DROP COLUMN ZTITLE", "DROP TABLE ZBOOK", "ALTER TABLE ZBOOK RENAME TO ZOTHER",
      "DELETE FROM Z_METADATA",
    ])
  func broken(_ sql: String) throws {
    let model = try Self.library()
    try withStore(of: model) { url in
      try MadeStore.run(sql, at: url)
      let error = persistError { _ = try open(url, model) }
      let expected: PersistenceError.Code = sql.hasPrefix("DELETE") ? .storeDamaged : .incompatibleModel
      #expect(error?.code == expected)
    }
  }

  @Test("Other hashes in the metadata, as Core Data writes after a migration, end the seal")
  func metadata() throws {
    let model = try Self.library()
    try withStore(of: model) { url in
      var metadata = try PersistentStoreCoordinator.metadata(at: url)
      metadata.values["NSStoreModelVersionHashes"] = .dictionary(["Book": .data(Data(repeating: 1, count: 32))])
      let connection = try SQLiteConnection(url, mode: .readWrite)
      try metadata.write(to: connection)
      connection.close()
      #expect(persistError { _ = try open(url, model) }?.code == .incompatibleModel)
    }
  }

  @Test("Metadata that the program sets keep the store sealed, alone and with a save", arguments: [true, false])
  func ownMetadata(withSave: Bool) throws {
    let model = try Self.library()
    try withStore(of: model) { url in
      let setting = try open(url, model) { context in
        let coordinator = context.persistentStoreCoordinator
        let store = try #require(coordinator.persistentStores.first)
        var metadata = try coordinator.metadata(of: store)
        metadata.values["note"] = .string("mine")
        try coordinator.setMetadata(metadata, of: store)
        if withSave { try save(context) } else { try context.save() }
      }
      #expect(!setting.readsSchema)
      try #expect(!open(url, model).readsSchema)
      try #expect(PersistentStoreCoordinator.metadata(at: url).values["note"] == .string("mine"))
    }
  }

  @Test("An index that the model gained is created in a sealed store, and one that was dropped is created again")
  func indexes() throws {
    let byPages = FetchIndexDescription("byPages", on: "pages")
    let (old, new) = try (Self.library(), Self.library(indexes: [byPages]))
    let query = "SELECT COUNT(*) FROM sqlite_master WHERE name = 'Z_Book_byPages'"
    try withStore(of: old) { url in
      try #expect(open(url, new, then: save).readsSchema)
      try #expect(MadeStore.rows(query, at: url) == [["1"]])
      try #expect(!open(url, new).readsSchema)
      try MadeStore.run("DROP INDEX Z_Book_byPages", at: url)
      try #expect(open(url, new).readsSchema)
      try #expect(MadeStore.rows(query, at: url) == [["1"]])
    }
  }

  @Test("A sealed store of another version with the same storage is still recognized as that version")
  func alike() throws {
    let versions = try [
      ModelVersion(name: "1", model: Self.library()), ModelVersion(name: "2", model: Self.library(transient: true)),
    ]
    let registry = ModelRegistry(versions: versions)
    func name(_ url: URL) throws -> String? {
      try StoreIdentification.identify(storeAt: url, registry: registry).version?.name
    }
    try withStore(of: versions[0].model) { url in
      for version in [versions[1], versions[0]] {
        try #expect(open(url, version.model, .automaticMigration, registry: registry, then: save).readsSchema)
        try #expect(name(url) == version.name)
        try #expect(!open(url, version.model, .automaticMigration, registry: registry).readsSchema)
      }
    }
  }

  @Test("The first save seals a store that was made without a seal")
  func firstSave() throws {
    let model = try Self.library()
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Seal-\(UUID().uuidString).sqlite")
      try MadeStore.make(model, at: url)
      let before = try StoreSnapshot(url)
      try #expect(open(url, model).readsSchema)
      try #expect(StoreSnapshot(url) == before, "opening changes nothing")
      try #expect(open(url, model, then: save).readsSchema)
      try #expect(!open(url, model).readsSchema)
    }
  }

  @Test("A migration in place leads to a sealed store")
  func migrated() throws {
    let (old, new) = try (Self.library(), Self.library("2", transient: true))
    let entities = new.description.entities + [EntityDescription("Shelf", attributes: [.init("name", .string)])]
    let wider = try ManagedObjectModel(ModelDescription(entities: entities, versionIdentifiers: ["3"]))
    try withStore(of: old) { url in
      let migrating = try open(url, wider, .automaticMigration) { context in
        try context.create("Shelf")["name"] = "Top"
        try context.save()
      }
      #expect(migrating.connections == 1)
      for _ in 0..<2 {
        let opening = try open(url, wider)
        #expect(opening.connections == 1 && !opening.readsSchema)
      }
      try #expect(MadeStore.rows("SELECT ZNAME FROM ZSHELF", at: url) == [["Top"]])
      try #expect(MadeStore.rows("SELECT COUNT(*) FROM ZBOOK", at: url) == [["1"]])
      #expect(persistError { _ = try open(url, old) }?.code == .incompatibleModel)
    }
  }

  @Test("A migration leads to a store that the next save seals")
  func migration() throws {
    let (old, new) = try (Self.library(), Self.library("2", transient: true))
    let entities = new.description.entities + [EntityDescription("Shelf", attributes: [.init("name", .string)])]
    let wider = try ManagedObjectModel(ModelDescription(entities: entities, versionIdentifiers: ["3"]))
    try withStore(of: old) { url in
      _ = try open(url, wider, .automaticMigration, then: save)
      try #expect(!open(url, wider).readsSchema)
      #expect(persistError { _ = try open(url, old) }?.code == .incompatibleModel)
    }
  }

  @Test("Stores with a history and models with triggers have no seal, and open as before")
  func unsealed() throws {
    let model = try Self.library()
    try withStore(of: model) { url in
      _ = try open(url, model, StoreOptions(tracksHistory: true), then: save)
      try #expect(open(url, model, then: save).readsSchema)
      try #expect(open(url, model).readsSchema)
    }
  }

  @Test(
    "The layout by rule of one hierarchy after another is that of the whole model",
    arguments: [SampleModels.people, SampleModels.shapes])
  func hierarchies(_ description: ModelDescription) throws {
    let model = try ManagedObjectModel(description)
    let whole = TableMap.forNewStore(model)
    let parts = TableMap(predictedFor: model, whole.numbers)
    for entity in model.entities.reversed() {
      #expect(parts[entity].table == whole[entity].table)
      #expect(parts[entity].columns == whole[entity].columns)
      #expect(parts[entity].orderColumns == whole[entity].orderColumns)
      #expect(parts[entity].toMany == whole[entity].toMany)
    }
    #expect(parts.hasSamePlaces(as: whole))
  }
}
