import Foundation
import Persist

extension Workload {
  static let batchChanging = [
    Workload(
      name: "batchUpdate", summary: "add to one attribute of all rows, without objects", target: 1.1, start: .items,
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
      ]),
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
