import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The cost of opening a store apart from its rows, in connections and statements.
@Suite("Cost of opening and migrating a store, in connections and statements")
struct MigrationCostTests {
  private static func library(_ attributes: String...) throws -> ManagedObjectModel {
    try model(
      EntityDescription(
        "Author", attributes: [.init("name", .string)],
        relationships: [.init("books", toMany: "Book", inverse: "author")]),
      EntityDescription(
        "Book", attributes: attributes.map { .init($0, .string) },
        relationships: [.init("author", to: "Author", inverse: "books")]))
  }

  private struct Cost {
    let connections: Int
    let statements: [String]

    /// The number of times that the names and columns of all tables were read.
    var schemaReads: Int { statements.count { $0.contains("JOIN pragma_table_info") } }
  }

  /// Calls a closure with a new store of a model and a census of what happens to its file.
  private func withStore<T>(of model: ManagedObjectModel, _ body: (URL, StatementCensus) throws -> T) throws -> T {
    try withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Cost-\(UUID().uuidString).sqlite")
      let first = PersistentStoreCoordinator(model: model)
      try first.remove(first.addStore(at: url))
      let census = StatementCensus(of: url)
      defer { census.end() }
      return try body(url, census)
    }
  }

  /// The cost of one `addStore` with the second model for a store of the first.
  private func cost(
    from old: ManagedObjectModel, to new: ManagedObjectModel, _ options: StoreOptions = .automaticMigration
  ) throws -> Cost {
    try withStore(of: old) { url, census in
      let coordinator = PersistentStoreCoordinator(model: new, registry: ModelRegistry(versions: [
        ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new),
      ]))
      let store = try coordinator.addStore(at: url, options: options)
      let cost = Cost(connections: census.connections, statements: census.statements)
      try coordinator.remove(store)
      try MadeStore.expectNewStore(of: new, at: url)
      return cost
    }
  }

  @Test("Opening a store of the current model takes one connection, which doesn't read the schema")
  func opening() throws {
    let model = try Self.library("title")
    let cost = try cost(from: model, to: model)
    #expect(cost.connections == 1)
    #expect(cost.schemaReads == 0)
    // SQLCipher's settings take one for each connection.
    #expect(cost.statements.count <= (TestKey.isUsed ? 16 : 14), "\(cost.statements)")
  }

  @Test("Adding an attribute takes one connection, which reads the whole schema once")
  func attribute() throws {
    let cost = try cost(from: Self.library("title"), to: Self.library("title", "subtitle"))
    #expect(cost.connections == 1)
    // To find the model. The result is checked by the definitions of all tables, and the columns of the changed one.
    #expect(cost.schemaReads == 1)
    #expect(cost.statements.count { $0.contains("FROM pragma_table_info(?)") } == 1)
    #expect(cost.statements.count <= 56, "\(cost.statements)")
  }

  @Test("A migration checks all pages of a small store once, also if it copies the store", arguments: [false, true])
  func integrity(copies: Bool) throws {
    let options = StoreOptions(migrator: AutomaticMigrator(alwaysCopies: copies))
    let cost = try cost(from: Self.library("title"), to: Self.library("title", "subtitle"), options)
    #expect(cost.statements.count { $0.contains("quick_check") } == 1)
  }

  @Test("Adding an attribute takes two more statements for each table that doesn't change, which count its rows")
  func growth() throws {
    func library(_ count: Int, _ attributes: String...) throws -> ManagedObjectModel {
      let entities = (0..<count).map { EntityDescription("Other\($0)", attributes: [.init("name", .string)]) }
      let book = EntityDescription("Book", attributes: attributes.map { .init($0, .string) })
      return try ManagedObjectModel(ModelDescription(entities: [book] + entities))
    }
    let counts = try [1, 100].map { count in
      let cost = try cost(from: library(count, "title"), to: library(count, "title", "subtitle"))
      // SQLite reads the columns of each table once.
      return cost.statements.count { !$0.hasPrefix("PRAGMA table_info") }
    }
    // Rows are counted for the log, unless the greatest keys tell that there are many.
    #expect(counts[1] <= counts[0] + 2 * 99)
  }

  @Test("A migration without a migrator of Persist's begins with the store closed")
  func foreignMigrator() throws {
    struct Forwarding: StoreMigrator {
      let census: StatementCensus
      let counts: LockProtected<[Int]>

      func migrateStore(
        at url: URL, to model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions
      ) throws {
        let known = try #require(options.knownStore as? StoreDifference)
        counts.withLock { $0 = [census.connections, known.opened?.isEnded == false ? 1 : 0] }
        try AutomaticMigrator().migrateStore(at: url, to: model, registry: registry, options: options)
      }
    }
    let (old, new) = (try Self.library("title"), try Self.library("title", "subtitle"))
    try withStore(of: old) { url, census in
      let migrator = Forwarding(census: census, counts: LockProtected([]))
      let coordinator = PersistentStoreCoordinator(model: new)
      try coordinator.remove(coordinator.addStore(at: url, options: StoreOptions(migrator: migrator)))
      #expect(migrator.counts.withLock { $0 } == [1, 0])
      try MadeStore.expectNewStore(of: new, at: url)
    }
  }

  @Test("A store changed by others between the survey and the migration is surveyed again and migrated correctly")
  func changedMeanwhile() throws {
    let (old, new) = (try Self.library("title"), try Self.library("title", "subtitle"))
    try withTemporaryStore { url in
      let first = PersistentStoreCoordinator(model: old)
      try first.remove(first.addStore(at: url))
      let versions = [ModelVersion(name: "1", model: old), ModelVersion(name: "2", model: new)]
      let registry = ModelRegistry(versions: versions)
      let known = try StoreIdentification.identify(storeAt: url, registry: registry)
      let hop = try MigrationHop(from: known.source, to: versions[1], registry: registry)
      let direct = StoreSurvey(known, hop: hop)
      try MadeStore.run("ALTER TABLE ZBOOK ADD COLUMN ZMINE VARCHAR", "CREATE INDEX MINE ON ZBOOK (ZMINE)", at: url)
      _ = try InPlaceMigration(
        url: url, destination: versions[1], registry: registry, options: StoreOptions(), migrator: AutomaticMigrator(),
        survey: direct
      ).run()
      let store = try RawStore(url, mode: .readOnly)
      defer { store.close() }
      let words = try StoreWords(new, at: url)
      let table = try store.catalog().schema.table(named: words["ZBOOK"])
      #expect(table?.column(named: "ZMINE") != nil && table?.column(named: words["ZSUBTITLE"]) != nil)
      try #expect(StoreIdentification.identify(storeAt: url, registry: registry).model === new)
    }
  }

  /// Books whose size may not fit the new type.
  private static func sizedBooks() throws -> ModelRegistry {
    func version(_ name: String, _ type: AttributeType) throws -> ModelVersion {
      ModelVersion(
        name: name,
        model: try model(EntityDescription("Book", attributes: [.init("title", .string), .init("size", type)])))
    }
    return ModelRegistry(versions: [try version("1", .int64), try version("2", .int16)])
  }

  /// The statements that count sizes, before and after others began to wait.
  private func counts(_ statements: ArraySlice<String>) -> (before: Int, holding: Int) {
    let counts = { (part: ArraySlice<String>) in part.count { $0.contains("COUNT") && $0.contains("ZSIZE") } }
    let begin = statements.lastIndex { $0.hasPrefix("BEGIN IMMEDIATE") } ?? statements.endIndex
    return (counts(statements[..<begin]), counts(statements[begin...]))
  }

  @Test("Rows that may not fit aren't counted while others wait to write", arguments: ["wal", "delete"])
  func checkedRows(journal: String) throws {
    let registry = try Self.sizedBooks()
    try withStore(of: registry.versions[0].model) { url, census in
      try MadeStore.run("PRAGMA journal_mode = \(journal)", at: url)
      try MadeStore.run("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZSIZE) VALUES (1, 1, 1, 7)", at: url)
      let before = census.statements.count
      try AutomaticMigrator().migrate(storeAt: url, to: registry.versions[1], registry: registry)
      let found = counts(census.statements.dropFirst(before))
      #expect(found.before > 0 && found.holding == 0, "\(found)")
      try MadeStore.expectNewStore(of: registry.versions[1].model, at: url)
    }
  }

  @Test("Rows that others write between the count and the transaction are counted", arguments: ["wal", "delete"])
  func rowsOfOthers(journal: String) throws {
    let registry = try Self.sizedBooks()
    try withStore(of: registry.versions[0].model) { url, census in
      try MadeStore.run("PRAGMA journal_mode = \(journal)", at: url)
      try MadeStore.run("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZSIZE) VALUES (1, 1, 1, 7)", at: url)
      let known = try StoreIdentification.identify(storeAt: url, registry: registry)
      let hop = try MigrationHop(from: known.source, to: registry.versions[1], registry: registry)
      let connection = try SQLiteConnection(url, mode: .readWrite)
      defer { connection.close() }
      var migration = InPlaceMigration(
        url: url, destination: registry.versions[1], registry: registry, options: StoreOptions(),
        migrator: AutomaticMigrator(), survey: StoreSurvey(known, hop: hop))
      migration.checkedState = try connection.readTransaction {
        _ = try connection.count(.rows("ZBOOK", .all))
        return connection.stateNumber
      }
      // A transaction that others roll back changes nothing.
      try MadeStore.run("BEGIN", "DELETE FROM ZBOOK", "ROLLBACK", at: url)
      let state = try connection.transaction { connection.stateNumber }
      #expect(state == migration.checkedState)
      try MadeStore.run("INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZSIZE) VALUES (2, 1, 1, 70000)", at: url)
      let error = #expect(throws: PersistenceError.self) {
        try connection.transaction { try migration.runInTransaction(of: connection) }
      }
      #expect(error?.code == .mappingNotInferable, "\(error as Any)")
      try MadeStore.run("DELETE FROM ZBOOK WHERE Z_PK = 2", at: url)
      let before = census.statements.count
      _ = try connection.transaction { try migration.runInTransaction(of: connection) }
      #expect(counts(census.statements.dropFirst(before)).holding > 0)
    }
  }

  @Test("The digest of a model is computed from its description's text once")
  func digest() throws {
    let model = try Self.library("title")
    #expect(model.digest == model.description.digest)
    #expect(model.digest == model.digest)
  }
}
