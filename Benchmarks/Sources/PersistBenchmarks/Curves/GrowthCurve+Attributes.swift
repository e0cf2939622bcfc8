import CSQLiteForBenchmarks
import Foundation
import Persist

extension GrowthCurve {
  static let ofAttributes = [
    GrowthCurve(
      axis: .attributes, name: "read", summary: "fetch 20 objects, read every attribute by its name",
      start: .attributes, isPerUnit: true,
      persist: { setting in
        let context = try Samples.context(setting.file, Samples.wide(attributes: setting.rows))
        let names = names(setting)
        return {
          var sum: UInt64 = 0
          for object in try context.fetch(FetchRequest("Wide", limit: 20)) {
            for name in names { sum &+= UInt64(object[name] as? Int ?? 0) }
          }
          return sum
        }
      },
      sqlite: { setting in
        let database = PlainSQLite(setting.file.path)
        return {
          let columns = names(setting).map { "Z" + $0.uppercased() }.joined(separator: ", ")
          let statement = database.prepare("SELECT Z_PK, Z_OPT, \(columns) FROM ZWIDE LIMIT 20")
          defer { sqlite3_finalize(statement) }
          var sum: UInt64 = 0
          while sqlite3_step(statement) == SQLITE_ROW {
            for column in 0..<setting.rows {
              sum &+= UInt64(bitPattern: sqlite3_column_int64(statement, Int32(column + 2)))
            }
          }
          return sum
        }
      }),
    GrowthCurve(
      axis: .attributes, name: "insert", summary: "create an object, set every attribute by its name, save",
      start: .attributes, isPerUnit: true,
      persist: { setting in
        let context = try Samples.context(setting.file, Samples.wide(attributes: setting.rows))
        let names = names(setting)
        return {
          for number in 0..<20 {
            let object = try context.create("Wide")
            for name in names { object[name] = Int64(number) }
            try context.save()
          }
          return 0
        }
      },
      sqlite: { setting in
        let database = PlainSQLite(setting.file.path)
        return {
          let places = repeatElement(", ?", count: setting.rows).joined()
          let columns = names(setting).map { ", Z" + $0.uppercased() }.joined()
          let statement = database.prepare("INSERT INTO ZWIDE (Z_ENT, Z_OPT\(columns)) VALUES (1, 1\(places))")
          defer { sqlite3_finalize(statement) }
          for number in 0..<20 {
            for place in 1...setting.rows { sqlite3_bind_int64(statement, Int32(place), Int64(number)) }
            database.commit(statement)
          }
          return 0
        }
      }),
    GrowthCurve(
      axis: .attributes, name: "update", summary: "change one attribute, save", start: .attributes,
      persist: { setting in
        let context = try Samples.context(setting.file, Samples.wide(attributes: setting.rows))
        let objects = try context.fetch(FetchRequest("Wide", limit: 20))
        return {
          for object in objects {
            object["value105"] = Int64(4711)
            try context.save()
          }
          return 0
        }
      },
      sqlite: { setting in
        let database = PlainSQLite(setting.file.path)
        return {
          let statement = database.prepare("UPDATE ZWIDE SET ZVALUE105 = 4711, Z_OPT = 2 WHERE Z_PK = ? AND Z_OPT = 1")
          defer { sqlite3_finalize(statement) }
          for key in 1...20 {
            sqlite3_bind_int64(statement, 1, Int64(key))
            database.commit(statement)
          }
          return 0
        }
      }),
  ]

  private static func names(_ setting: Workload.Setting) -> [String] { (0..<setting.rows).map { "value\(100 + $0)" } }
}
