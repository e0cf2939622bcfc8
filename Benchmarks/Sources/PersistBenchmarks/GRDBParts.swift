import Foundation
import GRDB

/// The same rows as a GRDB record, in its recommended form.
private struct Item: FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "ZITEM"
  var key: Int64?
  var version: Int64
  var quantity: Int64
  var rank: Int64
  var addedAt: Double
  var price: Double
  var code: String
  var name: String
  var note: String
  var token: UUID

  init(_ row: SampleRow) {
    version = 1
    quantity = row.quantity
    rank = row.rank
    addedAt = row.addedAt
    price = row.price
    code = row.code
    name = row.name
    note = row.note
    token = row.token
  }

  /// Columns by index, which GRDB documents as the fastest way to decode.
  init(row: Row) {
    key = row[0]
    version = row[2]
    quantity = row[3]
    rank = row[4]
    addedAt = row[5]
    price = row[6]
    code = row[7]
    name = row[8]
    note = row[9]
    token = row[10]
  }

  func encode(to container: inout PersistenceContainer) {
    container["Z_PK"] = key
    container["Z_ENT"] = 1
    container["Z_OPT"] = version
    container["ZQUANTITY"] = quantity
    container["ZRANK"] = rank
    container["ZADDEDAT"] = addedAt
    container["ZPRICE"] = price
    container["ZCODE"] = code
    container["ZNAME"] = name
    container["ZNOTE"] = note
    container["ZTOKEN"] = token
  }

  mutating func didInsert(_ inserted: InsertionSuccess) { key = inserted.rowID }
}

extension Item {
  static let columns = ["Z_PK", "Z_ENT", "Z_OPT", "ZQUANTITY", "ZRANK", "ZADDEDAT", "ZPRICE", "ZCODE", "ZNAME", "ZNOTE", "ZTOKEN"]

  static var everything: QueryInterfaceRequest<Item> { Item.select(columns.map { Column($0) }) }
}

/// What GRDB does.
enum GRDBParts: ContestantParts {
  static func insert(_ setting: Workload.Setting) throws -> () throws -> UInt64 {
    let pool = try DatabasePool(path: setting.file.path)
    try pool.write { try $0.execute(sql: PlainSQLite.createItem) }
    return {
      try pool.write { database in
        for number in 0..<setting.rows {
          var item = Item(SampleRow(number))
          try item.insert(database)
        }
      }
      return try total(pool, "SELECT count(*) + sum(ZQUANTITY) FROM ZITEM")
    }
  }

  static func fetch(_ setting: Workload.Setting) throws -> () throws -> UInt64 {
    let pool = try DatabasePool(path: setting.file.path)
    return { UInt64(try pool.read { try Item.everything.fetchAll($0) }.count) }
  }

  static func read(_ setting: Workload.Setting) throws -> () throws -> UInt64 {
    let pool = try DatabasePool(path: setting.file.path)
    return {
      var sum = Checksum()
      for item in try pool.read({ try Item.everything.fetchAll($0) }) {
        sum.add(item.quantity, item.rank, item.addedAt, item.price)
        sum.add(item.code)
        sum.add(item.name)
        sum.add(item.note)
        sum.add(item.token)
      }
      return sum.value
    }
  }

  static func update(_ setting: Workload.Setting) throws -> () throws -> UInt64 {
    let pool = try DatabasePool(path: setting.file.path)
    let items = try pool.read { try Item.everything.fetchAll($0) }
    return {
      try pool.write { database in
        for (number, item) in items.enumerated() {
          var item = item
          item.quantity = Int64(number)
          item.version += 1
          try item.update(database, columns: ["ZQUANTITY", "Z_OPT"])
        }
      }
      return try total(pool, "SELECT sum(ZQUANTITY) + count(*) FROM ZITEM")
    }
  }

  static func delete(_ setting: Workload.Setting) throws -> () throws -> UInt64 {
    let pool = try DatabasePool(path: setting.file.path)
    let items = try pool.read { try Item.everything.fetchAll($0) }
    return {
      try pool.write { database in
        for item in items { try item.delete(database) }
      }
      return try total(pool, "SELECT count(*) FROM ZITEM")
    }
  }

  private static func total(_ pool: DatabasePool, _ sql: String) throws -> UInt64 {
    UInt64(try pool.read { try Int64.fetchOne($0, sql: sql) } ?? 0)
  }
}

