import CSQLiteForBenchmarks
import Foundation
import GRDB
import Persist

extension Workload {
  /// The keys are distinct, so that every contestant reads each row once.
  static let faulting = [
    Workload(
      name: "fault",
      summary: """
        fire 50,000 faults by distinct random keys; Persist reads neighbors ahead, plain SQLite and GRDB read each row \
        in a transaction of its own
        """,
      rows: 50_000, target: 1.7, start: .items, storeRowsPerRow: 4,
      parts: [
        .persist: fireFaults,
        .sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          let keys = randomKeys(setting)
          return { database.ranks(ofKeys: keys) }
        },
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          let keys = randomKeys(setting)
          return { try keys.reduce(0) { sum, key in try pool.read { sum &+ (try rank(ofKey: key, in: $0)) } } }
        },
      ],
      shortfall: """
        A group of up to 16 faults shares a transaction. For each, Persist finds the object's store and keeps the row.
        """),
    Workload(
      name: "faultGrouped",
      summary: """
        fire 50,000 faults by distinct random keys; Persist reads neighbors ahead, plain SQLite and GRDB read each row \
        in one transaction for all
        """,
      rows: 50_000, target: 1.15, start: .items, storeRowsPerRow: 4,
      parts: [
        .persist: fireFaults,
        .sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          let keys = randomKeys(setting)
          return {
            database.run("BEGIN")
            defer { database.run("COMMIT") }
            return database.ranks(ofKeys: keys)
          }
        },
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          let keys = randomKeys(setting)
          return {
            try pool.read { database in try keys.reduce(0) { $0 &+ (try rank(ofKey: $1, in: database)) } }
          }
        },
      ],
      shortfall: """
        Each group of up to 16 faults is a separate read transaction with two file locks, while plain SQLite's loop has \
        one transaction for all.
        """),
  ]

  private static let fireFaults: Part = { setting in
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
  }

  private static func rank(ofKey key: Int64, in database: Database) throws -> UInt64 {
    let statement = try database.cachedStatement(sql: "SELECT \(PlainSQLite.columns) FROM ZITEM WHERE Z_PK = ?")
    return try ItemRecord.fetchOne(statement, arguments: [key]).map { UInt64(bitPattern: $0.rank) } ?? 0
  }

  private static func randomKeys(_ setting: Setting) -> [Int64] {
    var random = SplitMix(state: 7)
    return Array((1...Int64(setting.storeRows)).shuffled(using: &random).prefix(setting.rows))
  }
}
