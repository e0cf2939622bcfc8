import Foundation
import GRDB
import Persist

extension Workload {
  static let inserting = [
    Workload(
      name: "insert", summary: "create objects, set 8 properties, save", target: 1.5, start: .none,
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
          let pool = try DatabasePool.measured(setting.file)
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
        Persist creates an object for each row and registers it, and after the save registers it again under its key. \
        Its values are in a row from which the save binds them, and which becomes the snapshot: 4,100 instructions, \
        and 1,900 of allocations and reference counts, beside 7,100 of the plain statement.
        """),
    Workload(
      name: "batchInsert", summary: "batch insert, without objects; GRDB by a prepared statement", target: 1.1,
      start: .none,
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
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          try pool.write { try $0.execute(sql: PlainSQLite.createItem) }
          let rows = SampleRow.rows(setting.rows)
          return {
            try pool.write { database in
              let statement = try database.makeStatement(sql: "INSERT INTO ZITEM VALUES (?,1,1,?,?,?,?,?,?,?,?)")
              for (number, row) in rows.enumerated() {
                try statement.execute(arguments: [
                  number + 1, row.quantity, row.rank, row.addedAt, row.price, row.code, row.name, row.note, row.token,
                ])
              }
            }
            return 0
          }
        },
      ],
      shortfall: """
        The program sets each value by its slot, in a row from which it is bound: one more copy, and a check of its \
        type, 2,100 instructions beside 7,100 of the plain statement.
        """),
  ]

  private static let plainInsert: Part = { setting in
    let database = PlainSQLite.create(setting.file.path)
    database.run(PlainSQLite.createItem)
    let rows = SampleRow.rows(setting.rows)
    return {
      database.insert(rows)
      return 0
    }
  }
}
