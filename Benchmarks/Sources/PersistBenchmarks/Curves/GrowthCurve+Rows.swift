import CSQLiteForBenchmarks
import Foundation
import Persist

extension GrowthCurve {
  static let ofRows = items(.rows, .indexedItems) + [
    GrowthCurve(
      axis: .rows, name: "page", summary: "20 items of one quantity, by rank", start: .indexedItems,
      persist: { setting in
        let context = try Samples.context(setting.file, Samples.indexedItems)
        var request = FetchRequest<SampleItem>("Item", sortedBy: "rank")
        request.fetchLimit = 20
        let template = try FetchPredicate("quantity == $quantity")
        return {
          var sum: UInt64 = 0
          for quantity in 0..<20 {
            request.predicate = template.substituting(["quantity": Int64(quantity)])
            for item in try context.fetch(request) { sum &+= UInt64(bitPattern: item.rank) }
          }
          return sum
        }
      },
      sqlite: { setting in
        let database = PlainSQLite(setting.file.path)
        return {
          let statement = database.prepare(
            "SELECT \(PlainSQLite.columns) FROM ZITEM WHERE ZQUANTITY = ? ORDER BY ZRANK LIMIT 20")
          defer { sqlite3_finalize(statement) }
          var sum: UInt64 = 0
          for quantity in 0..<20 {
            sqlite3_bind_int64(statement, 1, Int64(quantity))
            while sqlite3_step(statement) == SQLITE_ROW {
              PlainSQLite.touch(statement)
              sum &+= UInt64(bitPattern: sqlite3_column_int64(statement, 4))
            }
            sqlite3_reset(statement)
          }
          return sum
        }
      }),
    GrowthCurve(
      axis: .rows, name: "delete", summary: "delete one item, save", start: .indexedItems,
      persist: { setting in
        let context = try Samples.context(setting.file, Samples.indexedItems)
        let items = try items(of: .indexedItems, setting, in: context)
        return {
          for item in items {
            context.delete(item)
            try context.save()
          }
          return 0
        }
      },
      sqlite: { setting in
        let database = PlainSQLite(setting.file.path)
        return {
          let statement = database.prepare("DELETE FROM ZITEM WHERE Z_PK = ? AND Z_OPT = 1")
          defer { sqlite3_finalize(statement) }
          for key in keys(of: .indexedItems, setting) {
            sqlite3_bind_int64(statement, 1, key)
            database.commit(statement)
          }
          return 0
        }
      }),
  ]

  /// The operations that files of any content have in common.
  static func items(_ axis: Axis, _ start: StartingStore) -> [GrowthCurve] {
    [
      GrowthCurve(
        axis: axis, name: "open", summary: "open the store, fetch an item by its key", start: start,
        persist: { setting in
          let model = try start.itemModel
          return {
            var sum: UInt64 = 0
            for key in keys(of: start, setting) {
              let context = try Samples.context(setting.file, model)
              sum &+= UInt64(bitPattern: try item(key, in: context).rank)
            }
            return sum
          }
        },
        sqlite: { setting in
          {
            keys(of: start, setting).reduce(0) { sum, key in
              let database = PlainSQLite(setting.file.path)
              return sum &+ database.ranks(ofKeys: [key])
            }
          }
        }),
      GrowthCurve(
        axis: axis, name: "read", summary: "read one item by its key", start: start,
        persist: { setting in
          let context = try Samples.context(setting.file, start.itemModel)
          return {
            try keys(of: start, setting).reduce(0) { $0 &+ UInt64(bitPattern: try item($1, in: context).rank) }
          }
        },
        sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          return { database.ranks(ofKeys: keys(of: start, setting)) }
        }),
      GrowthCurve(
        axis: axis, name: "update", summary: "change one property of one item, save", start: start,
        persist: { setting in
          let context = try Samples.context(setting.file, start.itemModel)
          let items = try items(of: start, setting, in: context)
          return {
            for item in items {
              item.quantity += 1
              try context.save()
            }
            return 0
          }
        },
        sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          return {
            let statement = database.prepare(
              "UPDATE ZITEM SET ZQUANTITY = ZQUANTITY + 1, Z_OPT = 2 WHERE Z_PK = ? AND Z_OPT = 1")
            defer { sqlite3_finalize(statement) }
            for key in keys(of: start, setting) {
              sqlite3_bind_int64(statement, 1, key)
              database.commit(statement)
            }
            return 0
          }
        }),
      GrowthCurve(
        axis: axis, name: "insert", summary: "create one item with 8 properties, save", start: start,
        persist: { setting in
          let context = try Samples.context(setting.file, start.itemModel)
          let rows = SampleRow.rows(20)
          return {
            for row in rows {
              SampleItem(context: context).take(row)
              try context.save()
            }
            return 0
          }
        },
        sqlite: { setting in
          let database = PlainSQLite(setting.file.path)
          let rows = SampleRow.rows(20)
          return {
            let first = database.integer("SELECT max(Z_PK) FROM ZITEM") + 1
            for (number, row) in rows.enumerated() { database.insert([row], firstKey: first + Int64(number)) }
            return 0
          }
        }),
    ]
  }

  /// Twenty keys from all parts of the table.
  private static func keys(of start: StartingStore, _ setting: Workload.Setting) -> [Int64] {
    let rows = start.itemCount(rows: setting.rows)
    return (0..<20).map { Int64($0 * (rows / 20) + rows / 40 + 1) }
  }

  private static func item(_ key: Int64, in context: ManagedObjectContext) throws -> SampleItem {
    let store = context.persistentStoreCoordinator.persistentStores[0].identifier
    let id = ManagedObjectID(entityName: "Item", storeIdentifier: store, key: .permanent(key))
    guard let item = try context.existingObject(with: id) as? SampleItem else {
      throw BenchmarkError("Item \(key) is missing.")
    }
    return item
  }

  private static func items(
    of start: StartingStore, _ setting: Workload.Setting, in context: ManagedObjectContext
  ) throws -> [SampleItem] {
    try keys(of: start, setting).map { try item($0, in: context) }
  }
}
