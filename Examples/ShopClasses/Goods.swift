public import Foundation
public import Persist
public import PersistMacrosless

/// Something that is sold.
public final class Item: ManagedObject {
  @Attribute public var addedAt: Date?
  @Attribute public var barcode: UUID?
  @Attribute(length: 1...) public var name = "New Item"
  @Attribute public var onSale = false
  @Attribute(externalStorage: true) public var photo: Data?
  @Attribute(range: 0...) public var price: Decimal = 0
  @Attribute(type: .int32, renamedFrom: "amount", range: 0...9999) public var quantity = 1

  @Relationship(inverse: \Category.items) public var category: Category?
  @Relationship(inverse: \Line.item, deleteRule: .deny) public var lines: RelationshipSet<Line>
  @Relationship(inverse: \Review.item, deleteRule: .cascade) public var reviews: OrderedRelationshipSet<Review>
  @Relationship(inverse: \Company.supplies) public var supplier: Company?
  @Relationship(renamedFrom: "labels") public var tags: RelationshipSet<Tag>
}

/// A shelf of items, which may stand in another one.
public final class Category: ManagedObject {
  @Attribute(length: 1...40) public var name = ""
  @Attribute(range: 0...) public var position: Int16 = 0

  @Relationship public var items: RelationshipSet<Item>
  @Relationship(inverse: \Category.subcategories) public var parent: Category?
  @Relationship(deleteRule: .cascade) public var subcategories: RelationshipSet<Category>
}

/// A word that items are found by.
public final class Tag: ManagedObject, DescribedEntity {
  public class var entityTraits: EntityTraits { EntityTraits(of: Tag.self, renamedFrom: "Label") }

  @Attribute(unique: true) public var text = ""
  @Relationship(inverse: \Item.tags) public var items: RelationshipSet<Item>
}

/// What somebody thinks of an item.
public final class Review: ManagedObject {
  @Attribute(range: 1...5) public var stars: Int16 = 3
  @Attribute public var text: String?
  @Relationship(optional: false) public var item: Item?
}
