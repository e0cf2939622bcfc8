import Persist
import PersistMacrosless

final class Item: ManagedObject {
  var isExpanded = false
  @Relationship(inverse: \Category.items) var category: Category?
}

final class Category: ManagedObject {
  @Relationship var items: RelationshipSet<Item>
}

func expanded(_ category: Category) {
  // <block 0>
}
