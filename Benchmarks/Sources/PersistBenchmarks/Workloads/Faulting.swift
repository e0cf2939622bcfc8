import CSQLiteForBenchmarks
import Foundation
import GRDB
import Persist

extension Workload {
  static let faulting = [
    Workload(
      name: "fault", summary: "fire 50,000 faults by random key; plain SQLite in one read transaction", rows: 50_000,
      target: 1.3, start: .items, storeRowsPerRow: 4,
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.items)
          let store = context.persistentStoreCoordinator.persistentStores[0].identifier
          let faults = randomKeys(setting).map {
            context.object(with: ManagedObjectID(entityName: "Item", storeIdentifier: store, key: .permanent($0)))
          }
          return {
            var sum: UInt64 = 0
            for case let item as SampleItem in faults { sum &+= UInt64(bitPattern: item.rank) }
            try context.save()  // keeps the context, and throws what a getter couldn't
            return sum
          }
        },
        .sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          let keys = randomKeys(setting)
          return {
            database.run("BEGIN")
            let statement = database.prepare("SELECT \(PlainSQLite.columns) FROM ZITEM WHERE Z_PK = ?")
            var sum: UInt64 = 0
            for key in keys {
              sqlite3_bind_int64(statement, 1, key)
              if sqlite3_step(statement) == SQLITE_ROW {
                PlainSQLite.touch(statement)
                sum &+= UInt64(bitPattern: sqlite3_column_int64(statement, 4))
              }
              sqlite3_reset(statement)
            }
            sqlite3_finalize(statement)
            database.run("COMMIT")
            return sum
          }
        },
        .grdb: { setting in
          let pool = try DatabasePool(path: setting.file.path)
          let keys = randomKeys(setting)
          return {
            try pool.read { database in
              let statement = try database.cachedStatement(
                sql: "SELECT \(PlainSQLite.columns) FROM ZITEM WHERE Z_PK = ?")
              var sum: UInt64 = 0
              for key in keys {
                if let item = try ItemRecord.fetchOne(statement, arguments: [key]) {
                  sum &+= UInt64(bitPattern: item.rank)
                }
              }
              return sum
            }
          }
        },
      ],
      shortfall: """
        Each fault is a separate read transaction with two file locks, while plain SQLite's loop has one transaction \
        for all: that alone doubles the time. A context that kept its transaction open would show rows as they were \
        when it began, and would prevent checkpoints of SQLite's log.
        """)
  ]

  private static func randomKeys(_ setting: Setting) -> [Int64] {
    var random = SplitMix(state: 7)
    return (0..<setting.rows).map { _ in Int64(random.next() % UInt64(setting.storeRows)) + 1 }
  }
}
