import CSQLiteForBenchmarks
import Foundation

/// What plain loops over the C API do.
enum SQLiteParts: ContestantParts {
  static func insert(_ setting: Workload.Setting) throws -> () throws -> UInt64 {
    let database = PlainSQLite(setting.file.path)
    database.run(PlainSQLite.createItem)
    return {
      database.insert(0..<setting.rows)
      return UInt64(database.integer("SELECT count(*) + sum(ZQUANTITY) FROM ZITEM"))
    }
  }

  static func fetch(_ setting: Workload.Setting) throws -> () throws -> UInt64 {
    let database = PlainSQLite(setting.file.path)
    return { database.touchAll() }
  }

  static func read(_ setting: Workload.Setting) throws -> () throws -> UInt64 {
    let database = PlainSQLite(setting.file.path)
    return {
      var sum = Checksum()
      database.readAll { row in
        sum.add(row.quantity, row.rank, row.addedAt, row.price)
        sum.add(row.code)
        sum.add(row.name)
        sum.add(row.note)
        sum.add(row.token)
      }
      return sum.value
    }
  }

  static func update(_ setting: Workload.Setting) throws -> () throws -> UInt64 {
    let database = PlainSQLite(setting.file.path)
    return {
      database.run("BEGIN IMMEDIATE")
      let statement = database.prepare("UPDATE ZITEM SET ZQUANTITY = ?, Z_OPT = 2 WHERE Z_PK = ? AND Z_OPT = 1")
      for number in 0..<setting.rows {
        sqlite3_bind_int64(statement, 1, Int64(number))
        sqlite3_bind_int64(statement, 2, Int64(number + 1))
        database.check(sqlite3_step(statement))
        sqlite3_reset(statement)
      }
      sqlite3_finalize(statement)
      database.run("COMMIT")
      return UInt64(database.integer("SELECT sum(ZQUANTITY) + count(*) FROM ZITEM"))
    }
  }

  static func delete(_ setting: Workload.Setting) throws -> () throws -> UInt64 {
    let database = PlainSQLite(setting.file.path)
    return {
      database.run("BEGIN IMMEDIATE")
      let statement = database.prepare("DELETE FROM ZITEM WHERE Z_PK = ? AND Z_OPT = 1")
      for number in 0..<setting.rows {
        sqlite3_bind_int64(statement, 1, Int64(number + 1))
        database.check(sqlite3_step(statement))
        sqlite3_reset(statement)
      }
      sqlite3_finalize(statement)
      database.run("COMMIT")
      return UInt64(database.integer("SELECT count(*) FROM ZITEM"))
    }
  }
}
