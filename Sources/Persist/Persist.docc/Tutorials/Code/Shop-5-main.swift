import Foundation
import Persist
import PersistMacrosless

let model = try ManagedObjectModel(Item.self, Category.self, version: "2")
let coordinator = PersistentStoreCoordinator(model: model)

let url = URL(fileURLWithPath: "Shop.sqlite")
try coordinator.addStore(at: url, options: .automaticMigration)

let context = ManagedObjectContext(coordinator)
let drinks = Category(context: context)
drinks.name = "Drinks"
for item in try context.fetch(Item.where(\.name != "Bread")) {
  item.category = drinks
}
try context.save()
print("\(drinks.name): \(drinks.items.map(\.name).sorted().joined(separator: ", "))")
