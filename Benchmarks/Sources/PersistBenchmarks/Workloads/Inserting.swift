import Foundation
import GRDB
import Persist

extension Workload {
  static let inserting = [
    Workload(
      name: "insert", summary: "create objects, set 8 properties, save", target: 1.8, start: .none,
      writtenTables: ["ZITEM"],
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.items)
          let rows = SampleRow.rows(setting.rows)
          return {
            for row in rows { SampleItem(context: context).take(row) }
            try context.save()
            return 0
          }
        },
        .sqlite: plainInsert,
        .grdb: { setting in
          let pool = try DatabasePool(path: setting.file.path)
          try pool.write { try $0.execute(sql: PlainSQLite.createItem) }
          let rows = SampleRow.rows(setting.rows)
          return {
            try pool.write { database in
              for row in rows {
                var item = ItemRecord(row)
                try item.insert(database)
              }
            }
            return 0
          }
        },
      ],
      shortfall: """
        Persist creates an object with an array of values for each row. The written values become the object's \
        snapshot, so that nothing needs to be read again: 700 bytes for each object until the save is done.
        """),
    Workload(
      name: "batchInsert", summary: "batch insert, without objects", target: 1.2, start: .none,
      writtenTables: ["ZITEM"],
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.items)
          let rows = SampleRow.rows(setting.rows)
          return {
            var rest = rows.makeIterator()
            try context.execute(BatchInsertRequest("Item") { values in
              guard let row = rest.next() else { return false }
              SampleItem.fill(&values, row)
              return true
            })
            return 0
          }
        },
        .sqlite: plainInsert,
      ]),
  ]

  private static let plainInsert: Part = { setting in
    let database = PlainSQLite(setting.file.path)
    database.run(PlainSQLite.createItem)
    let rows = SampleRow.rows(setting.rows)
    return {
      database.insert(rows)
      return 0
    }
  }
}
