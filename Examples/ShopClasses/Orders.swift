public import Foundation
public import Persist
public import PersistMacrosless

/// What somebody bought at one time.
public final class Order: ManagedObject {
  @Attribute(range: 1...) public var number = 1
  @Attribute public var placedAt: Date?
  @Relationship(inverse: \Party.orders) public var buyer: Party?
  @Relationship(inverse: \Line.order, deleteRule: .cascade) public var lines: OrderedRelationshipSet<Line>
}

/// So many of one item.
public final class Line: ManagedObject {
  @Attribute(range: 1...99) public var count: Int16 = 1
  @Relationship(optional: false) public var item: Item?
  @Relationship(optional: false) public var order: Order?
}
