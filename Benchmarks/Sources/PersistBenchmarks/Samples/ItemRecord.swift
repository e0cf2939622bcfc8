import Foundation
import GRDB

/// The same rows as a GRDB record, in its recommended form.
struct ItemRecord: FetchableRecord, MutablePersistableRecord {
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

extension ItemRecord {
  static let columns = [
    "Z_PK", "Z_ENT", "Z_OPT", "ZQUANTITY", "ZRANK", "ZADDEDAT", "ZPRICE", "ZCODE", "ZNAME", "ZNOTE", "ZTOKEN",
  ]

  static var everything: QueryInterfaceRequest<ItemRecord> { ItemRecord.select(columns.map { Column($0) }) }

  func add(to sum: inout Checksum) {
    sum.add(quantity, rank, addedAt, price)
    sum.add(code)
    sum.add(name)
    sum.add(note)
    sum.add(token)
  }
}
