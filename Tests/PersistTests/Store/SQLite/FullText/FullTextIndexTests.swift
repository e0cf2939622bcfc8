import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Full-text indexes")
struct FullTextIndexTests {
  private func fullTextObjects(at url: URL) throws -> [String] {
    let connection = try SQLiteConnection(url, mode: .readOnly)
    defer { connection.close() }
    return try connection.all(.trustedObjects) { $0.text(0) }.filter { $0.hasPrefix(FullTextIndex.prefix) }.sorted()
  }

  /// Adds the store of a model, with migration, and counts the results of a predicate.
  private func count(_ description: ModelDescription, at url: URL, _ entity: String, _ format: String) throws -> Int {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(description))
    try coordinator.addStore(at: url, options: .automaticMigration)
    let context = ManagedObjectContext(coordinator)
    let predicate = try FetchPredicate(format)
    let entityOfModel = try context.entity(named: entity)
    for store in coordinator.stores(holding: entityOfModel) {
      try #expect(store.divide(predicate, over: entityOfModel).rest == nil)
    }
    let count = try context.count(for: FetchRequest<ManagedObject>(entity, where: format))
    for store in coordinator.stores(holding: entityOfModel) { try store.close() }
    return count
  }

  private func names(_ text: String, in error: PersistenceError?) -> Bool {
    guard let error else { return false }
    return "\(error) \(error.errors)".contains(text)
  }

  @Test("Triggers maintain the index, whoever writes", .aboutFiles("the full-text index of a file"))
  func otherPrograms() throws {
    try withNotes { notes, url in
      try notes.add(["tea", "cup", nil])
      try runSQL("UPDATE ZNOTE SET ZBODY = 'green tea' WHERE ZBODY IS NULL", at: url)
      try runSQL("DELETE FROM ZNOTE WHERE ZBODY = 'tea'", at: url)
      let columns = "ZNOTE (Z_PK, Z_ENT, Z_OPT, ZBODY)"
      try runSQL("INSERT INTO \(columns) SELECT 90, Z_ENT, 1, 'tea pot' FROM ZNOTE LIMIT 1", at: url)
      try runSQL("UPDATE ZNOTE SET Z_PK = 91 WHERE Z_PK = 90", at: url)
      try runSQL("UPDATE ZNOTE SET ZRANK = 5", at: url)
      try #expect(notes.bodies("body MATCHTEXT 'tea'") == ["green tea", "tea pot"])
      try runSQL("REPLACE INTO \(columns) SELECT 91, Z_ENT, 1, 'pot' FROM ZNOTE LIMIT 1", at: url)
      notes.context.reset()
      try #expect(notes.bodies("body MATCHTEXT 'tea'") == ["green tea"])
      try notes.store.close()
      try runSQL(
        "INSERT INTO \"PERSIST_FTS_ZNOTE$ZBODY\" (\"PERSIST_FTS_ZNOTE$ZBODY\", rank) VALUES ('integrity-check', 1)",
        at: url)
      try #expect(problems(at: url).filter { $0.kind != .keyCounter } == [])
    }
  }

  @Test("A reopened store has its index, and opening changes no byte", .aboutFiles("the full-text index of a file"))
  func reopening() throws {
    try withNotes { notes, url in
      try notes.add(["tea"])
      try notes.store.close()
      let before = try Data(contentsOf: url)
      let again = try NoteStore(at: url)
      try #expect(again.bodies("body MATCHTEXT 'tea'") == ["tea"])
      try again.store.close()
      try #expect(Data(contentsOf: url) == before)
      let readOnly = try NoteStore(at: url, options: StoreOptions(isReadOnly: true))
      try #expect(readOnly.bodies("body MATCHTEXT 'tea'") == ["tea"])
      try readOnly.store.close()
      try #expect(Data(contentsOf: url) == before)
    }
  }

  @Test("An in-memory store has an index too, and rolling back a save removes its words")
  func inMemory() throws {
    let notes = try NoteStore(at: nil)
    try notes.add(["tea", "cup"])
    try #expect(notes.bodies("body MATCHTEXT 'tea'") == ["tea"])
    #expect(throws: PersistenceError.self) {
      try notes.file.pool.write { connection in
        try connection.execute(SQLText(storedIn: StoredDefinition(sql: "UPDATE ZNOTE SET ZBODY = 'tea'")))
        throw PersistenceError(.interrupted, "")
      }
    }
    try #expect(notes.bodies("body MATCHTEXT 'tea'") == ["tea"])
  }

  @Test(
    "Marking, changing and unmarking an attribute creates, changes and drops the index when the store is opened",
    .aboutFiles("the full-text index of a file"))
  func marking() throws {
    try withNotes(NoteStore.description(nil)) { notes, url in
      try notes.add(["tea runs", "cup"])
      try notes.store.close()
      try #expect(fullTextObjects(at: url) == [])
      let unmarked = try ManagedObjectModel(NoteStore.description(nil))
      try #expect(ManagedObjectModel(NoteStore.description()).fingerprints == unmarked.fingerprints)
      let readOnly = try NoteStore(at: url, options: StoreOptions(isReadOnly: true))
      try #expect(readOnly.bodies("body MATCHTEXT 'tea'") == ["tea runs"], "In memory, where there is no index")
      try readOnly.store.close()
      try #expect(count(NoteStore.description(), at: url, "Note", "body MATCHTEXT 'tea'") == 1)
      try #expect(fullTextObjects(at: url).count == 8)
      try #expect(count(NoteStore.description(.stems), at: url, "Note", "body MATCHTEXT 'running'") == 1)
      try #expect(problems(at: url, NoteStore.description(.stems)) == [])
      try #expect(count(NoteStore.description(.stems, title: .words), at: url, "Note", "title MATCHTEXT 'tea'") == 0)
      try #expect(fullTextObjects(at: url).count == 12)
      try #expect(count(NoteStore.description(nil), at: url, "Note", "rank == nil") == 2)
      try #expect(fullTextObjects(at: url) == [])
    }
  }

  @Test("If a trigger is dropped by others, the index is re-created", .aboutFiles("the full-text index of a file"))
  func droppedTrigger() throws {
    try withNotes { notes, url in
      try notes.add(["tea"])
      try notes.store.close()
      try runSQL("DROP TRIGGER \"PERSIST_FTS_ZNOTE$ZBODY_UPDATE\"", at: url)
      try runSQL("UPDATE ZNOTE SET ZBODY = 'cup'", at: url)
      try #expect(count(NoteStore.description(), at: url, "Note", "body MATCHTEXT 'cup'") == 1)
      try #expect(problems(at: url) == [])
    }
  }

  @Test(
    "Migrations in place rename, rewrite and drop the index with its attribute",
    .aboutFiles("the full-text index of a file"))
  func migrations() throws {
    try withNotes { notes, url in
      try notes.add(["tea", "cup"])
      try notes.add(["green tea"], entity: "Letter")
      try notes.store.close()
      // The attribute and its entity renamed.
      var renamed = NoteStore.description()
      renamed.entities[0].name = "Memo"
      renamed.entities[0].renamingIdentifier = "Note"
      renamed.entities[0].attributes[1].name = "content"
      renamed.entities[0].attributes[1].renamingIdentifier = "body"
      renamed.entities[1].parent = "Memo"
      renamed.entities[2].relationships[0].destination = "Memo"
      try #expect(count(renamed, at: url, "Memo", "content MATCHTEXT 'tea'") == 2)
      try #expect(fullTextObjects(at: url).count == 8)
      try #expect(problems(at: url, renamed) == [])
      // A subentity with its rows gone, and another entity with a searched attribute.
      var other = renamed
      var text = AttributeDescription("text", .string)
      text.fullTextSearch = .words
      other.entities[1] = EntityDescription("Page", attributes: [text])
      try #expect(count(other, at: url, "Memo", "content MATCHTEXT 'tea'") == 1)
      try #expect(problems(at: url, other) == [])
      try #expect(count(other, at: url, "Page", "text MATCHTEXT 'tea'") == 0)
      // The attribute removed.
      other.entities[0].attributes.remove(at: 1)
      try #expect(count(other, at: url, "Page", "text MATCHTEXT 'tea'") == 0)
      try #expect(fullTextObjects(at: url).count == 4)
      // The entity removed.
      other.entities.remove(at: 1)
      try #expect(count(other, at: url, "Memo", "rank == nil") == 2)
      try #expect(fullTextObjects(at: url) == [])
    }
  }

  @Test(
    "A migration that changes no searched row leaves the index unchanged",
    .aboutFiles("the full-text index of a file"))
  func untouched() throws {
    try withNotes { notes, url in
      try notes.add(["tea"])
      try notes.store.close()
      // A word that is in no text shows that the index isn't re-created.
      try runSQL(
        "INSERT INTO \"PERSIST_FTS_ZNOTE$ZBODY\" (rowid, ZBODY) VALUES (1, 'witness')", at: url)
      var changed = NoteStore.description()
      changed.entities[2].attributes.append(AttributeDescription("age", .int32))
      try #expect(count(changed, at: url, "Note", "body MATCHTEXT 'witness'") == 1)
      try #expect(problems(at: url, changed).map(\.kind) == [.textIndex])
    }
  }

  @Test("A migration that copies creates the indexes of the new store, by SQL and object by object")
  func copying() throws {
    let old = try ManagedObjectModel(NoteStore.description())
    var description = NoteStore.description(.stems)
    description.entities[0].attributes[1].name = "content"
    description.entities[0].attributes[1].renamingIdentifier = "body"
    let new = try ManagedObjectModel(description)
    for goesByObject in [false, true] {
      try withTemporaryFolder { folder in
        let (source, target) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
        let notes = try NoteStore(at: source)
        try notes.add(["running", "cup", nil])
        try notes.store.close()
        try MigrationManager(sourceModel: old, destinationModel: new).migrateStore(
          from: source, to: target, mappingModel: .inferred(from: old, to: new), policies: [], coreDataHashes: nil,
          goesByObject: goesByObject)
        try #expect(fullTextObjects(at: target).count == 8)
        try #expect(problems(at: target, description) == [])
        try #expect(count(description, at: target, "Note", "content MATCHTEXT 'runs'") == 1)
      }
    }
  }

  @Test("A mapping may search the source's texts, which are then examined one by one")
  func mapping() throws {
    let model = try ManagedObjectModel(NoteStore.description())
    try withTemporaryFolder { folder in
      let (source, target) = (folder.appendingPathComponent("a.sqlite"), folder.appendingPathComponent("b.sqlite"))
      let notes = try NoteStore(at: source)
      try notes.add(["green tea", "cup"])
      try notes.store.close()
      var mapping = try MappingModel.inferred(from: model, to: model)
      let index = try #require(mapping.entityMappings.firstIndex { $0.destinationEntityName == "Note" })
      mapping.entityMappings[index].sourceExpression = .sourceObjects(of: "Note", where: "body MATCHTEXT 'tea'")
      try MigrationManager(sourceModel: model, destinationModel: model).migrateStore(
        from: source, to: target, mappingModel: mapping)
      try #expect(count(NoteStore.description(), at: target, "Note", "body MATCHTEXT 'tea OR cup'") == 1)
    }
  }

  @Test(
    "The schema is trusted only if no other trigger or view uses a virtual table",
    .aboutFiles("the full-text index of a file"))
  func trust() throws {
    for hostile in [
      "CREATE TRIGGER evil AFTER INSERT ON ZAUTHOR BEGIN DELETE FROM \"PERSIST_FTS_ZNOTE$ZBODY\"; END",
      "CREATE VIEW evil AS SELECT * FROM [persist_fts_znote$zbody]",
      "CREATE VIEW evil AS SELECT * FROM 'PERSIST_FTS_ZNOTE$ZSUBJECT'",
    ] {
      try withNotes { notes, url in
        try notes.add(["tea"])
        try runSQL(hostile, at: url)
        let whileOpen = persistError { try notes.add(["cup"]) }
        #expect(names("evil", in: whileOpen), "A schema that changes is looked at again.")
        #expect(persistError { try notes.context.save() } != nil)
        try notes.store.close()
        let error = persistError { _ = try NoteStore(at: url) }
        #expect(error?.code == .storeOpenFailed && error?.message.contains("evil") == true)
        let readOnly = try NoteStore(at: url, options: StoreOptions(isReadOnly: true))
        try #expect(readOnly.bodies("body MATCHTEXT 'tea'") == ["tea"])
        try readOnly.store.close()
        try runSQL(hostile.contains("VIEW") ? "DROP VIEW evil" : "DROP TRIGGER evil", at: url)
        let again = try NoteStore(at: url)
        try again.add(["cup"])
        try #expect(again.bodies("body MATCHTEXT 'cup'") == ["cup"])
      }
    }
    try withNotes { notes, url in
      try runSQL("CREATE TRIGGER kind AFTER INSERT ON ZAUTHOR BEGIN UPDATE ZNOTE SET ZRANK = 1; END", at: url)
      try notes.add(["tea"])
      try #expect(notes.bodies("body MATCHTEXT 'tea'") == ["tea"])
    }
  }

  @Test("Stores without full-text search aren't trusted", .aboutFiles("the full-text index of a file"))
  func untrusted() throws {
    try withNotes(NoteStore.description(nil)) { notes, _ in
      try notes.file.pool.withWriter { connection in
        #expect(connection.fullTextTrust == nil)
        try #expect(connection.first(SQLText(checked: "PRAGMA trusted_schema")) { $0.integer(0) } == 0)
      }
    }
  }

  @Test("SQLite without FTS5 causes an error that names it")
  func withoutFTS5() {
    let error = persistError { try SQLiteConnection.requireFullText(isAvailable: false, url: nil) }
    #expect(error?.code == .storeOpenFailed && error?.message.contains("FTS5") == true)
  }

  @Test(
    "A check finds words that are in no text, and texts whose words are missing",
    .aboutFiles("the full-text index of a file"))
  func check() throws {
    try withNotes { notes, url in
      try notes.add(["tea", "cup"])
      try notes.store.close()
      try #expect(problems(at: url) == [])
      let name = "\"PERSIST_FTS_ZNOTE$ZBODY\""
      try runSQL("INSERT INTO \(name) (\(name), rowid, ZBODY) VALUES ('delete', 2, 'cup')", at: url)
      let found = try problems(at: url)
      #expect(found.map(\.kind) == [.textIndex] && found.first?.pk == 2 && found.first?.property == "body")
    }
  }

  @Test("An unsupported mark is a flaw of the model")
  func flaws() throws {
    for attribute in [
      AttributeDescription("a", .int32, userInfo: [FullTextSearch.userInfoKey: "words"]),
      AttributeDescription("a", .string, isTransient: true, userInfo: [FullTextSearch.userInfoKey: "words"]),
      AttributeDescription("a", .string, userInfo: [FullTextSearch.userInfoKey: "sounds"]),
      AttributeDescription("a", .string, userInfo: [FullTextSearch.userInfoKey: "words"], allowsExternalStorage: true),
    ] {
      let description = ModelDescription(entities: [EntityDescription("E", attributes: [attribute])])
      let problems = ModelCheck.problems(in: description)
      #expect(problems.count == 1 && problems.first?.code == .invalidModel && problems.first?.place.property == "a")
    }
    let element = AttributeDescription("a", .string, userInfo: [FullTextSearch.userInfoKey: "words"])
    let composite = ModelDescription(entities: [], composites: [CompositeDescription("C", elements: [element])])
    #expect(ModelCheck.problems(in: composite).count == 1)
  }
}
