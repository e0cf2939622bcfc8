import Foundation
import Persist
import PersistMacrosless

// The guide's code must compile unchanged.

final class Item: ManagedObject {
  @Attribute var name = "New Item"
  @Attribute var quantity = 1
  @Attribute var photo: Data?
  @Relationship(inverse: \Category.items) var category: Category?
}

final class Category: ManagedObject {
  @Attribute var name = ""
  @Relationship(deleteRule: .cascade) var items: RelationshipSet<Item>
}

func use(_ url: URL) throws {
  let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Item.self, Category.self))
  try coordinator.addStore(at: url, options: .automaticMigration)
  let context = ManagedObjectContext(coordinator)
  let item = Item(context: context)
  item.name = "Tea"
  item.category?.items.insert(item)
  try context.save()
}
