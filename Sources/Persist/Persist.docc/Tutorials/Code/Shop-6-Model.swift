import Persist
import PersistMacrosless

final class Item: ManagedObject {
  @Attribute var name = "New Item"
  @Attribute(renamedFrom: "quantity") var stock = 1
  @Attribute var price = 2.5
  @Relationship(inverse: \Category.items) var category: Category?
}

final class Category: ManagedObject {
  @Attribute var name = ""
  @Relationship(deleteRule: .cascade) var items: RelationshipSet<Item>
}
