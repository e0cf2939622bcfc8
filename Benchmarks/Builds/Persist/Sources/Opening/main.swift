import Foundation
import Persist
import PersistMacrosless

// The program from its start to the first fetch of an existing store, with the classes of the README's example.
final class Item: ManagedObject {
  @Attribute var name = "New Item"
  @Attribute var quantity = 1
  @Relationship(inverse: \Category.items) var category: Category?
}

final class Category: ManagedObject {
  @Attribute var name = ""
  @Relationship(deleteRule: .cascade) var items: RelationshipSet<Item>
}

let model = try ManagedObjectModel(Item.self, Category.self)
let coordinator = PersistentStoreCoordinator(model: model)
try coordinator.addStore(at: URL(fileURLWithPath: "Shop.sqlite"), options: .automaticMigration)

let context = ManagedObjectContext(coordinator)
for item in try context.fetch(Item.where(\.quantity < 5).sorted(by: \.name)) {
  print(item.name, item.quantity)
}
