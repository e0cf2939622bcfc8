import Foundation
import GRDB

// Does the same as the program at the top of Persist's README.
struct Item: Codable, FetchableRecord, MutablePersistableRecord {
  static let category = belongsTo(Category.self)

  var id: Int64?
  var name = "New Item"
  var quantity = 1
  var categoryId: Int64?

  mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

struct Category: Codable, FetchableRecord, MutablePersistableRecord {
  static let items = hasMany(Item.self)

  var id: Int64?
  var name = ""

  mutating func didInsert(_ inserted: InsertionSuccess) { id = inserted.rowID }
}

var migrator = DatabaseMigrator()
migrator.registerMigration("1") { database in
  try database.create(table: "category") { table in
    table.autoIncrementedPrimaryKey("id")
    table.column("name", .text).notNull()
  }
  try database.create(table: "item") { table in
    table.autoIncrementedPrimaryKey("id")
    table.column("name", .text).notNull()
    table.column("quantity", .integer).notNull()
    table.belongsTo("category", onDelete: .cascade)
  }
}

let pool = try DatabasePool(path: "Shop.sqlite")
try migrator.migrate(pool)

try pool.write { database in
  var drinks = Category(name: "")
  try drinks.insert(database)
  var tea = Item(name: "Tea", categoryId: drinks.id)
  try tea.insert(database)
}

let items = try pool.read { database in
  try Item.filter(Column("quantity") < 5).order(Column("name")).fetchAll(database)
}
for item in items {
  print(item.name, item.quantity)
}
