import Foundation
import GRDB

// The program from its start to the first fetch of an existing database.
struct Item: Codable, FetchableRecord, MutablePersistableRecord {
  var id: Int64?
  var name = "New Item"
  var quantity = 1
  var categoryId: Int64?
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
let items = try pool.read { database in
  try Item.filter(Column("quantity") < 5).order(Column("name")).fetchAll(database)
}
for item in items {
  print(item.name, item.quantity)
}
