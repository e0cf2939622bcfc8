import Foundation
import Persist
import PersistMacrosless

final class Item: ManagedObject {
  @Attribute var name = "New Item"
  @Attribute var quantity = 1
  @Relationship(inverse: \Category.items) var category: Category?
}

final class Category: ManagedObject {
  @Attribute var name = ""
  @Relationship(deleteRule: .cascade) var items: RelationshipSet<Item>
}

let model = try ManagedObjectModel(Item.self, Category.self)           // or ModelRegistry(contentsOf: modelsFolder)
let coordinator = PersistentStoreCoordinator(model: model)
try coordinator.addStore(at: URL(fileURLWithPath: "Shop.sqlite"), options: .automaticMigration)

let context = ManagedObjectContext(coordinator)
let tea = Item(context: context)
let drinks = Category(context: context)
tea.name = "Tea"
tea.category = drinks                                                  // and drinks.items has the tea
try context.save()

for item in try context.fetch(Item.where(\.quantity < 5).sorted(by: \.name)) {
  print(item.name, item.quantity)
}
