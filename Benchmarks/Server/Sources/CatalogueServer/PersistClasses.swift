import Foundation
import Persist
import PersistMacrosless

final class Item: ManagedObject {
  @Attribute(unique: true) var id = UUID()
  @Attribute(indexed: true) var name = ""
  @Attribute var price = 0.0
  @Attribute var quantity = 0
  @Attribute var added = Date()
  @Relationship(inverse: \Category.items) var category: Category?
  @Relationship(inverse: \Note.item, deleteRule: .cascade) var notes: RelationshipSet<Note>
}

final class Category: ManagedObject {
  @Attribute var name = ""
  @Attribute var position = 0
  @Relationship var items: RelationshipSet<Item>
}

final class Note: ManagedObject {
  @Attribute var written = 0
  @Attribute var author = ""
  @Attribute var text = ""
  @Relationship var item: Item?
}
