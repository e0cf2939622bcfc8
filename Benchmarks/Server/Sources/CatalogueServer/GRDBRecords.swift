import Foundation
import GRDB

// The records' tables are those of Persist's store: both contestants work on copies of one file.

struct ItemRecord: FetchableRecord, PersistableRecord {
  static let databaseTableName = "ZITEM"
  static let category = belongsTo(CategoryRecord.self, key: "category", using: ForeignKey(["ZCATEGORY"], to: ["Z_PK"]))
  static let notes = hasMany(NoteRecord.self, key: "notes", using: ForeignKey(["ZITEM"], to: ["Z_PK"]))

  enum Columns {
    static let key = Column("Z_PK")
    static let version = Column("Z_OPT")
    static let id = Column("ZID")
    static let name = Column("ZNAME")
    static let price = Column("ZPRICE")
    static let quantity = Column("ZQUANTITY")
    static let added = Column("ZADDED")
    static let category = Column("ZCATEGORY")
  }

  static var databaseSelection: [any SQLSelectable] {
    [
      Columns.key, Columns.version, Columns.id, Columns.name, Columns.price, Columns.quantity, Columns.added,
      Columns.category,
    ]
  }

  let key: Int64
  var version: Int
  let id: UUID
  let name: String
  let price: Double
  var quantity: Int
  let added: Date
  let categoryKey: Int64?

  // By position, GRDB's fastest form for rows.
  init(row: Row) {
    key = row[0]
    version = row[1]
    id = row[2]
    name = row[3]
    price = row[4]
    quantity = row[5]
    added = Date(timeIntervalSinceReferenceDate: row[6])
    categoryKey = row[7]
  }

  func encode(to container: inout PersistenceContainer) {
    container[Columns.key] = key
    container[Columns.version] = version
    container[Columns.id] = id
    container[Columns.name] = name
    container[Columns.price] = price
    container[Columns.quantity] = quantity
    container[Columns.added] = added.timeIntervalSinceReferenceDate
    container[Columns.category] = categoryKey
  }
}

struct CategoryRecord: FetchableRecord, TableRecord {
  static let databaseTableName = "ZCATEGORY"
  static var databaseSelection: [any SQLSelectable] { [Column("Z_PK"), Column("ZNAME"), Column("ZPOSITION")] }
  let key: Int64
  let name: String
  let position: Int

  init(row: Row) {
    key = row[0]
    name = row[1]
    position = row[2]
  }
}

struct NoteRecord: FetchableRecord, MutablePersistableRecord {
  static let databaseTableName = "ZNOTE"

  enum Columns {
    static let key = Column("Z_PK")
    static let entity = Column("Z_ENT")
    static let version = Column("Z_OPT")
    static let written = Column("ZWRITTEN")
    static let author = Column("ZAUTHOR")
    static let text = Column("ZTEXT")
    static let item = Column("ZITEM")
  }

  static var databaseSelection: [any SQLSelectable] {
    [Columns.key, Columns.written, Columns.author, Columns.text, Columns.item]
  }

  private(set) var key: Int64?
  let written: Int
  let author: String
  let text: String
  let itemKey: Int64?

  init(key: Int64?, written: Int, author: String, text: String, itemKey: Int64?) {
    (self.key, self.written, self.author, self.text, self.itemKey) = (key, written, author, text, itemKey)
  }

  init(row: Row) {
    self.init(key: row[0], written: row[1], author: row[2], text: row[3], itemKey: row[4])
  }

  func encode(to container: inout PersistenceContainer) {
    container[Columns.key] = key
    // The numbers of the entity and of the version, which Persist's tables have.
    container[Columns.entity] = 3
    container[Columns.version] = 1
    container[Columns.written] = written
    container[Columns.author] = author
    container[Columns.text] = text
    container[Columns.item] = itemKey
  }

  mutating func didInsert(_ inserted: InsertionSuccess) { key = inserted.rowID }
}

/// An item with its category, as returned by `including(optional:)`.
struct ItemWithCategory: FetchableRecord {
  let item: ItemRecord
  let category: CategoryRecord?

  init(row: Row) {
    item = ItemRecord(row: row)
    category = row["category"]
  }
}

/// An item with its category and notes, as returned by `including(optional:)` and `including(all:)`.
struct ItemWithRelations: FetchableRecord {
  let item: ItemRecord
  let category: CategoryRecord?
  let notes: [NoteRecord]

  init(row: Row) {
    item = ItemRecord(row: row)
    category = row["category"]
    notes = row["notes"]
  }
}
