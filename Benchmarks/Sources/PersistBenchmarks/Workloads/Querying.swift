import CSQLiteForBenchmarks
import Foundation
import GRDB
import Persist

extension Workload {
  static let querying = [
    Workload(
      name: "query", summary: "predicate over an index, sorted, 100 results, 10,000 times", target: 1.3,
      start: .indexedItems,
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.indexedItems)
          var request = FetchRequest<SampleItem>("Item", sortedBy: "rank")
          request.fetchLimit = 100
          let template = try FetchPredicate("quantity == $quantity")
          return {
            var sum: UInt64 = 0
            for quantity in quantities(setting) {
              request.predicate = template.substituting(["quantity": quantity])
              for item in try context.fetch(request) { sum &+= UInt64(bitPattern: item.rank) }
            }
            return sum
          }
        },
        .sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          return {
            let statement = database.prepare(querySQL)
            var sum: UInt64 = 0
            for quantity in quantities(setting) {
              sqlite3_bind_int64(statement, 1, quantity)
              while sqlite3_step(statement) == SQLITE_ROW {
                PlainSQLite.touch(statement)
                sum &+= UInt64(bitPattern: sqlite3_column_int64(statement, 4))
              }
              sqlite3_reset(statement)
            }
            sqlite3_finalize(statement)
            return sum
          }
        },
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          return {
            var sum: UInt64 = 0
            for quantity in quantities(setting) {
              let items = try pool.read { database in
                try ItemRecord.fetchAll(database.cachedStatement(sql: querySQL), arguments: [quantity])
              }
              for item in items { sum &+= UInt64(bitPattern: item.rank) }
            }
            return sum
          }
        },
      ],
      shortfall: """
        For each query, Persist inserts the value into the predicate, checks it against the model and looks up the \
        translation of its shape. The rest is creating and freeing 100 objects.
        """),
    Workload(
      name: "aggregate", summary: "count all, sum of one attribute, count and sum by group", target: 1.1, start: .items,
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.items)
          let count = ExpressionDescription("count", .function(.count, [.key("rank")]))
          var total = FetchRequest<FetchedRow>("Item")
          total.propertiesToFetch = [ExpressionDescription("sum", .function(.sum, [.key("quantity")]))]
          var groups = FetchRequest<FetchedRow>("Item")
          groups.propertiesToFetch = [
            "quantity", count, ExpressionDescription("price", .function(.sum, [.key("price")])),
          ]
          groups.propertiesToGroupBy = ["quantity"]
          return {
            var sum = UInt64(try context.count(for: SampleItem.all))
            for row in try context.fetch(total) { sum &+= UInt64(row["sum"] as? Int ?? 0) }
            for row in try context.fetch(groups) {
              sum &+= group(
                (row["quantity"] as? Int).map(Int64.init), (row["count"] as? Int).map(Int64.init),
                row["price"] as? Double)
            }
            return sum
          }
        },
        .sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          return {
            var sum = UInt64(database.integer("SELECT count(*) FROM ZITEM"))
            sum &+= UInt64(database.integer("SELECT sum(ZQUANTITY) FROM ZITEM"))
            let statement = database.prepare(groupSQL)
            while sqlite3_step(statement) == SQLITE_ROW {
              sum &+= group(
                sqlite3_column_int64(statement, 0), sqlite3_column_int64(statement, 1),
                sqlite3_column_double(statement, 2))
            }
            sqlite3_finalize(statement)
            return sum
          }
        },
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          return {
            try pool.read { database in
              var sum = UInt64(try ItemRecord.fetchCount(database))
              let total = ItemRecord.select(GRDB.sum(Column("ZQUANTITY")), as: Int64.self)
              sum &+= UInt64(try total.fetchOne(database) ?? 0)
              let groups = ItemRecord.select(
                Column("ZQUANTITY"), GRDB.count(Column("ZRANK")), GRDB.sum(Column("ZPRICE"))
              ).group(Column("ZQUANTITY"))
              let rows = try Row.fetchCursor(database, groups)
              while let row = try rows.next() { sum &+= group(row[0], row[1], row[2]) }
              return sum
            }
          }
        },
      ]),
  ]

  private static let querySQL =
    "SELECT \(PlainSQLite.columns) FROM ZITEM WHERE ZQUANTITY = ? ORDER BY ZRANK LIMIT 100"
  private static let groupSQL = "SELECT ZQUANTITY, count(ZRANK), sum(ZPRICE) FROM ZITEM GROUP BY ZQUANTITY"

  private static func quantities(_ setting: Setting) -> some Sequence<Int64> {
    (0..<setting.rows / 20).lazy.map { Int64($0 * 37 % 100) }
  }

  private static func group(_ key: Int64?, _ count: Int64?, _ price: Double?) -> UInt64 {
    // In cents, because the order in which doubles are summed may differ.
    UInt64(key ?? 0) &* 31 &+ UInt64(count ?? 0) &* 7 &+ UInt64(((price ?? 0) * 100).rounded())
  }
}
