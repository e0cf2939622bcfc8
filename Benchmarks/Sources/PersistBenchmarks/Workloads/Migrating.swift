import CSQLiteForBenchmarks
import Foundation
import GRDB
import Persist

extension Workload {
  /// One attribute renamed, one added, one removed; the first workload only adds one.
  static let migrating = [
    Workload(
      name: "addAttribute",
      summary: "open a store of 1,000,000 rows, add an attribute in place, close; against ALTER TABLE and the metadata",
      rows: 1_000_000, target: 2.0, peakTarget: 64 << 20, start: .items, scales: false, writtenTables: ["ZITEM"],
      parts: [
        .persist: migration(to: { try Samples.itemsWithDiscount }) { AutomaticMigrator() },
        .sqlite: plainly(["ALTER TABLE ZITEM ADD COLUMN ZDISCOUNT FLOAT"]),
        .grdb: byGRDB(["ALTER TABLE ZITEM ADD COLUMN ZDISCOUNT FLOAT"]),
      ],
      shortfall: """
        The statement takes as long for a million rows as for one. In addition, Persist identifies the store, plans \
        and checks the migration, and writes its record of the model.
        """),
    Workload(
      name: "migrateInPlace",
      summary: "open a store of 1,000,000 rows, migrate it in place, close; against the statements and the metadata",
      rows: 1_000_000, target: 1.15, peakTarget: 64 << 20, start: .items, writtenTables: ["ZITEM"],
      parts: [
        .persist: migration { AutomaticMigrator() }, .sqlite: plainly(alterations), .grdb: byGRDB(alterations),
      ],
      shortfall: """
        In addition to the same statements, Persist identifies the store, checks its rows before and after, and writes \
        its metadata, key counters and record of the model in the same transaction.
        """),
    Workload(
      name: "migrateCopySQL",
      summary: "migrate 1,000,000 rows into a new file in SQL, against INSERT … SELECT; GRDB in the same file",
      rows: 1_000_000, target: 1.15, peakTarget: 64 << 20, start: .items, writtenTables: ["ZITEM"],
      parts: [
        .persist: migration { AutomaticMigrator(alwaysCopies: true) },
        .sqlite: { setting in
          {
            try rewrite(setting.file) { target in
              target.run(
                """
                INSERT INTO ZITEM (\(nextColumns)) SELECT Z_PK, Z_ENT, Z_OPT, ZQUANTITY, ZRANK, ZADDEDAT, ZPRICE, \
                NULL, ZNAME, ZNOTE, ZTOKEN FROM old.ZITEM
                """)
            }
            return 0
          }
        },
        .grdb: byGRDB([
          "CREATE TABLE NEW_ZITEM \(nextTable)",
          """
          INSERT INTO NEW_ZITEM (\(nextColumns)) SELECT Z_PK, Z_ENT, Z_OPT, ZQUANTITY, ZRANK, ZADDEDAT, ZPRICE, NULL, \
          ZNAME, ZNOTE, ZTOKEN FROM ZITEM
          """,
          "DROP TABLE ZITEM", "ALTER TABLE NEW_ZITEM RENAME TO ZITEM",
        ]),
      ],
      shortfall: """
        In addition to the same statement, Persist writes the metadata and counts the rows of both tables. It replaces \
        the content in a transaction of the old file, which other programs may have open: the pages are written to the \
        new file, to the log and to the old file.
        """),
    Workload(
      name: "migrateCopyObjects",
      summary: "migrate 1,000,000 rows by a policy in code, against a loop of reads and prepared inserts",
      rows: 1_000_000, target: 2.0, peakTarget: 64 << 20, start: .items, writtenTables: ["ZITEM"],
      parts: [
        .persist: migration {
          var mapping = try MappingModel.inferred(from: Samples.items, to: Samples.nextItems)
          mapping.entityMappings[0].policyName = "DiscountPolicy"
          mapping.entityMappings[0].type = .custom
          return AutomaticMigrator(mappingModels: [mapping], policies: [DiscountPolicy.self])
        },
        .sqlite: { setting in
          {
            try rewrite(setting.file, copyWithDiscounts)
            return 0
          }
        },
        .grdb: byGRDB(copyRecordsWithDiscounts),
      ],
      shortfall: """
        Each row becomes an object of the old model and one of the new, which a policy in code may change.
        """),
  ]

  private static let nextColumns =
    "Z_PK, Z_ENT, Z_OPT, ZQUANTITY, ZRANK, ZADDEDAT, ZPRICE, ZDISCOUNT, ZNAME, ZREMARK, ZTOKEN"

  private static let nextTable = """
    ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZQUANTITY INTEGER, ZRANK INTEGER, ZADDEDAT TIMESTAMP, \
    ZPRICE FLOAT, ZDISCOUNT FLOAT, ZNAME VARCHAR, ZREMARK VARCHAR, ZTOKEN BLOB )
    """

  private static let alterations = [
    "ALTER TABLE ZITEM RENAME COLUMN ZNOTE TO ZREMARK", "ALTER TABLE ZITEM ADD COLUMN ZDISCOUNT FLOAT",
    "ALTER TABLE ZITEM DROP COLUMN ZCODE",
  ]

  /// Opens the file, runs the statements and writes the metadata in one transaction, and closes it.
  private static func plainly(_ statements: [String]) -> Part {
    { setting in
      {
        let database = PlainSQLite(setting.file.path)
        let metadata = database.prepare("SELECT Z_PLIST FROM Z_METADATA")
        let update = database.prepare("UPDATE Z_METADATA SET Z_PLIST = ?")
        database.run("BEGIN IMMEDIATE")
        for statement in statements { database.run(statement) }
        database.check(sqlite3_step(metadata))
        sqlite3_bind_value(update, 1, sqlite3_column_value(metadata, 0))
        database.check(sqlite3_step(update))
        for statement in [metadata, update] { sqlite3_finalize(statement) }
        database.run("COMMIT")
        return 0
      }
    }
  }

  /// The statements as a migration of GRDB's migrator, which keeps a record of it.
  private static func byGRDB(_ statements: [String]) -> Part {
    byGRDB { for statement in statements { try $0.execute(sql: statement) } }
  }

  private static func byGRDB(_ change: @escaping @Sendable (Database) throws -> Void) -> Part {
    { setting in
      {
        let pool = try DatabasePool.measured(setting.file)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("2", migrate: change)
        try migrator.migrate(pool)
        try pool.close()
        return 0
      }
    }
  }

  private static func migration(
    to model: @escaping @Sendable () throws -> ManagedObjectModel = { try Samples.nextItems },
    _ migrator: @escaping @Sendable () throws -> AutomaticMigrator
  ) -> Part {
    { setting in
      let model = try model()
      var dropping = try migrator()
      // The others drop the removed column's values, too.
      dropping.parking = .none
      let registry = ModelRegistry(versions: [
        ModelVersion(name: "1", model: try Samples.items), ModelVersion(name: "2", model: model),
      ])
      let migrator = dropping
      return {
        let coordinator = PersistentStoreCoordinator(model: model, registry: registry)
        let store = try coordinator.addStore(
          at: setting.file, options: BenchmarkKey.options(StoreOptions(migrator: migrator)))
        try coordinator.remove(store)
        return 0
      }
    }
  }

  /// Creates a new file beside the old one, has it filled, and replaces the old one.
  private static func rewrite(_ file: URL, _ fill: (PlainSQLite) throws -> Void) throws {
    let new = file.appendingPathExtension("new")
    do {
      let target = PlainSQLite.create(new.path)
      target.run("ATTACH '\(file.path)' AS old\(BenchmarkKey.attachment); BEGIN IMMEDIATE; CREATE TABLE ZITEM \(nextTable)")
      try fill(target)
      target.run("COMMIT; DETACH old; PRAGMA wal_checkpoint(TRUNCATE)")
    }
    for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
    try FileManager.default.moveItem(at: new, to: file)
  }

  private static func copyWithDiscounts(_ database: PlainSQLite) {
    let read = database.prepare(
      "SELECT Z_PK, Z_ENT, Z_OPT, ZQUANTITY, ZRANK, ZADDEDAT, ZPRICE, ZNAME, ZNOTE, ZTOKEN FROM old.ZITEM")
    let insert = database.prepare("INSERT INTO ZITEM (\(nextColumns)) VALUES (?,?,?,?,?,?,?,?,?,?,?)")
    while sqlite3_step(read) == SQLITE_ROW {
      for column: Int32 in 0..<7 { sqlite3_bind_value(insert, column + 1, sqlite3_column_value(read, column)) }
      sqlite3_bind_double(insert, 8, sqlite3_column_double(read, 6) / 10)
      for column: Int32 in 7..<10 { sqlite3_bind_value(insert, column + 2, sqlite3_column_value(read, column)) }
      database.check(sqlite3_step(insert))
      sqlite3_reset(insert)
    }
    sqlite3_finalize(read)
    sqlite3_finalize(insert)
  }
}

extension Workload {
  /// Reads each row and inserts its copy, with the new attribute computed in code.
  @Sendable private static func copyRecordsWithDiscounts(_ database: Database) throws {
    try database.execute(sql: "CREATE TABLE NEW_ZITEM \(nextTable)")
    let insert = try database.makeStatement(
      sql: "INSERT INTO NEW_ZITEM (\(nextColumns)) VALUES (?,?,?,?,?,?,?,?,?,?,?)")
    let rows = try Row.fetchCursor(
      database,
      sql: "SELECT Z_PK, Z_ENT, Z_OPT, ZQUANTITY, ZRANK, ZADDEDAT, ZPRICE, ZNAME, ZNOTE, ZTOKEN FROM ZITEM")
    while let row = try rows.next() {
      let price: Double = row[6]
      let kept = (0..<10).map { row[$0] as DatabaseValue }
      let values: [DatabaseValue] = kept[..<7] + [(price / 10).databaseValue] + kept[7...]
      try insert.execute(arguments: StatementArguments(values))
    }
    try database.execute(sql: "DROP TABLE ZITEM; ALTER TABLE NEW_ZITEM RENAME TO ZITEM")
  }
}

/// Computes the new attribute in code.
private final class DiscountPolicy: EntityMigrationPolicy {
  override func createDestinationInstances(
    forSource source: ManagedObject, in mapping: EntityMapping, manager: MigrationManager
  ) throws {
    try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
    let copy = try manager.destinationInstances(forEntityMapping: mapping.name, sourceInstances: [source])[0]
    copy["discount"] = (source["price"] as? Double ?? 0) / 10
  }
}
