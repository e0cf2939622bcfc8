import Foundation
import GRDB
import Persist

extension Workload {
  static let batchChanging = [
    Workload(
      name: "batchUpdate", summary: "add to one attribute of all rows, without objects", target: 1.0, start: .items,
      writtenTables: ["ZITEM"],
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.items)
          return {
            try context.execute(BatchUpdateRequest("Item", set: ["quantity": FetchExpression("quantity + 1")]))
            return 0
          }
        },
        .sqlite: plainly("UPDATE ZITEM SET ZQUANTITY = ZQUANTITY + 1, Z_OPT = Z_OPT + 1"),
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          return {
            try pool.write {
              _ = try ItemRecord.updateAll($0, [Column("ZQUANTITY") += 1, Column("Z_OPT") += 1])
            }
            return 0
          }
        },
      ],
      shortfall: """
        Whether each computed number is in the range of its attribute is asked before, by a scan of the rows: 650 \
        instructions a row beside 4,700 of the statement, a tenth of its time, and more where pages are decrypted. The \
        same condition inside the statement takes four times as long as the scan.
        """),
    Workload(
      name: "batchDelete", summary: "delete half of the rows by a predicate, without objects", target: 1.1,
      start: .items, writtenTables: ["ZITEM"],
      parts: [
        .persist: { setting in
          let context = try Samples.context(setting.file, Samples.items)
          return {
            try context.execute(BatchDeleteRequest("Item", where: FetchPredicate("quantity < 50")))
            return 0
          }
        },
        .sqlite: plainly("DELETE FROM ZITEM WHERE ZQUANTITY < 50"),
        .grdb: { setting in
          let pool = try DatabasePool.measured(setting.file)
          return {
            try pool.write { _ = try ItemRecord.filter(Column("ZQUANTITY") < 50).deleteAll($0) }
            return 0
          }
        },
      ]),
  ]

  private static func plainly(_ sql: String) -> Part {
    { setting in
      let database = PlainSQLite(setting.file.path)
      return {
        database.run(sql)
        return 0
      }
    }
  }
}
