import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Stores that tests of migration create and inspect with SQL alone.
enum MadeStore {
  /// Creates a store of a model like a new one.
  static func make(_ model: ManagedObjectModel, at url: URL) throws {
    guard url.isFileURL else { return try makeOnServer(model, at: url) }
    let connection = try SQLiteConnection(url, mode: .create)
    defer { connection.close() }
    try connection.transaction {
      let map = TableMap.forNewStore(model)
      for table in map.tableDefinitions { try connection.execute(.create(table)) }
      for index in map.indexDefinitions { try connection.execute(.create(index)) }
      for statement in [
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
      ] as [SQLText] { try connection.execute(statement) }
      for place in map.tables {
        try connection.apply(
          .setEntities(
            old: [],
            new: [
              .init(
                number: place.number, name: place.entity.name,
                parent: place.entity.superentity.map { map[$0].number } ?? 0, maximum: 0, table: nil)
            ]))
      }
      var metadata = StoreMetadata(newStore: UUID(), versionHashes: [:], versionIdentifiers: [])
      try metadata.record(model, coreDataHashes: nil, in: connection)
    }
  }

  private static func makeOnServer(_ model: ManagedObjectModel, at url: URL) throws {
    let location = StoreLocation(url)
    try location.engine.createStore(at: location, model: model, options: StoreOptions()).close()
  }

  /// Runs SQL that a test passes as text, as another program does.
  static func run(_ statements: String..., at url: URL) throws {
    guard url.isFileURL else {
      for statement in statements { try ForeignSQL.run(named: statement, at: url) }
      return
    }
    // The functions of triggers are Persist's.
    let connection = try SQLiteConnection(url, mode: .readWrite)
    defer { connection.close() }
    for statement in statements { try connection.execute(SQLText(storedIn: StoredDefinition(sql: statement))) }
  }

  /// The rows of a query, values as text.
  static func rows(_ query: String, at url: URL) throws -> [[String]] {
    guard url.isFileURL else { return try ForeignSQL.run(named: query, at: url) }
    let connection = try SQLiteConnection(url, mode: .readOnly)
    defer { connection.close() }
    return try connection.all(SQLText(storedIn: StoredDefinition(sql: query))) { row in
      (0..<row.columnCount).map { row.isNull($0) ? "nil" : row.text($0) }
    }
  }

  /// The number of the first page of a table.
  static func page(of table: String, at url: URL) throws -> Int {
    let rows = try rows("SELECT rootpage FROM sqlite_master WHERE name = '\(table)'", at: url)
    return try #require(Int(rows[0][0]))
  }

  /// Only plans and performs the migration, without identification and metadata.
  static func migrateTables(
    at url: URL, from old: ManagedObjectModel, to new: ManagedObjectModel, canDropColumns: Bool = true
  ) throws {
    let location = StoreLocation(url)
    let connection = try location.engine.connect(to: location, options: StoreOptions())
    defer { connection.close() }
    try connection.prepareForMigration()
    try connection.transaction {
      let catalog = try connection.catalog()
      let map = TableMap(
        model: old, numbers: EntityNumbers(model: old, rows: catalog.numberRows), schema: catalog.schema)
      try #require(map.differences == [])
      let work = InPlacePlanner.plan(
        from: map, schema: catalog.schema, to: .forNewStore(new, names: map.names),
        comparison: try ModelComparison(from: old, to: new), canDropColumns: canDropColumns)
      try #require(work.blockers == [])
      for check in work.checks {
        if case .blocker(let blocker) = check.meaning, try connection.count(check.count) > 0 { throw blocker.error }
      }
      for change in work.changes { try connection.apply(change.change) }
    }
  }

  /// Creates a store, fills it, migrates it both with and without SQLite's DROP COLUMN, and compares it with a new one.
  static func migrate(
    _ old: ManagedObjectModel, _ new: ManagedObjectModel, filling: String..., expecting: (URL) throws -> Void
  ) throws {
    // A server always drops columns.
    for canDropColumns in TestEngine.current == .sqlite ? [true, false] : [true] {
      try withTemporaryStore { url in
        try make(old, at: url)
        for statement in filling { try run(statement, at: url) }
        try migrateTables(at: url, from: old, to: new, canDropColumns: canDropColumns)
        try StoreWords.$model.withValue(new) {
          try expectNewStore(of: new, at: url)
          try expecting(url)
        }
      }
    }
  }

  /// The definitions of a store's tables and indexes, without the order of columns, defaults, Persist's own table
  /// and what is parked.
  ///
  /// - Parameter isOld: Whether to ignore differences of older frameworks: names of indexes, constraints in tables, and
  ///   the place of the embedded model.
  static func schema(at url: URL, isOld: Bool = false) throws -> [String] {
    let store = try RawStore(url, mode: .readOnly)
    defer { store.close() }
    let schema = try store.catalog().schema
    let others = (isOld ? ["PERSIST_METADATA", "Z_MODELCACHE"] : ["PERSIST_METADATA"]) + ParkedSlot.Table.all
    let tables = schema.tables.filter { !others.contains($0.name) }.map { table in
      "\(table.name): "
        + table.columns.filter { !ParkedColumn.isOne($0.name) }.map { "\($0.name) \($0.declaredType)" }
        .sorted().joined(separator: ", ")
    }
    let indexes = schema.indexes.compactMap { index in
      index.sql.map { sql -> String in
        let signature = url.isFileURL ? IndexSignature(definition: sql).map { "\($0)" } : nil
        let own = ServerAddress(url).map { sql.replacing(" ON \($0.schema).", with: " ON ").replacing(" ON \"\($0.schema)\".", with: " ON ") }
        return "\(index.name) on \(index.table): " + (signature ?? own ?? sql)
      }
    }
    // Those of files aren't part of the layout.
    let triggers = url.isFileURL
      ? [] : schema.triggers.filter { !ParkedSlot.isTrigger($0.name) }.map { "\($0.name) on \($0.table)" }
    return (isOld ? tables : tables + indexes + triggers).sorted()
  }

  /// The law of every migration in place: the tables are those of a new store, and the file is intact.
  static func expectNewStore(
    of model: ManagedObjectModel, at url: URL, isOld: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let fresh = otherStore("fresh-\(UUID().uuidString)", beside: url)
    try make(model, at: fresh)
    let (found, wanted) = (try schema(at: url, isOld: isOld), try schema(at: fresh, isOld: isOld))
    #expect(found == wanted, sourceLocation: sourceLocation)
    let numbers = "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_ENT < 16000 ORDER BY Z_ENT"
    try #expect(rows(numbers, at: url) == rows(numbers, at: fresh), sourceLocation: sourceLocation)
    if url.isFileURL {
      try #expect(rows("PRAGMA integrity_check", at: url) == [["ok"]], sourceLocation: sourceLocation)
    }
  }
}

extension MadeStore {
  /// Checks that the store's history follows entities to their new numbers, however the store is migrated.
  static func expectHistoryGoesOn(
    _ migrate: (_ url: URL, _ old: ManagedObjectModel, _ new: ManagedObjectModel) throws -> Void
  ) throws {
    try withTemporaryStore { url in
      let (old, new) = (
        try model(EntityDescription("Gone"), EntityDescription("Item")),
        try model(EntityDescription("Aardvark"), EntityDescription("Bee"), EntityDescription("Item"))
      )
      try make(old, at: url)
      try run(
        "CREATE TABLE ACHANGE (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, ZENTITY INTEGER, ZENTITYPK INTEGER)",
        "INSERT INTO ACHANGE VALUES (1, 16001, 1, 7), (2, 16001, 2, 8)",
        "INSERT INTO Z_PRIMARYKEY VALUES (16001, 'CHANGE', 0, 2)", at: url)
      try migrate(url, old, new)
      try #expect(rows("SELECT * FROM ACHANGE", at: url) == [["2", "16001", "3", "8"]])
      try #expect(rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16001", at: url) == [["2"]])
    }
  }
}
