// compile-with: -default-isolation MainActor
import Foundation
import Persist
import PersistMacrosless

nonisolated enum Size: String, StorableValue { case small, large }

final class Item: ManagedObject {
  @Attribute var name = "New Item"
  @Attribute var number = UUID()
  @Attribute var size = Size.small
  @Relationship(inverse: \Category.items) var category: Category?

  convenience init(_ name: String, in context: ManagedObjectContext) {
    self.init(context: context)
    self.name = name
  }

  override func awakeFromInsert() { quantity = 2 }
  @Attribute var quantity = 1
}

final class Category: ManagedObject {
  @Attribute var name = ""
  @Relationship var items: RelationshipSet<Item>
}

final class ViewModel {
  let context: ManagedObjectContext
  var items: [Item] = []

  init(_ coordinator: PersistentStoreCoordinator) { context = ManagedObjectContext(coordinator) }

  func load() throws {
    items.append(Item("Tea", in: context))
    items.first?.category?.items.removeAll()
    try context.save()
  }
}
