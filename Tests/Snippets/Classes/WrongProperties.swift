import Foundation
import Persist
import PersistMacrosless

enum Size: String, StorableValue { case small, large }
struct Plain {}

// Types without an empty value: their properties need a default, or are optional.
final class Item: ManagedObject {
  @Attribute var number: UUID  // expect-error: Give the property a default, or make it optional
  @Attribute var size: Size  // expect-error: Give the property a default, or make it optional
  @Attribute(unique: true) var page: URL  // expect-error: Give the property a default, or make it optional
  @Transient var choice: Size  // expect-error: Give the property a default, or make it optional
}

final class Unstorable: ManagedObject {
  @Attribute var plain: Plain?  // expect-error: 'Plain' conform to 'StorableValue'
}

final class NotRelated: ManagedObject {
  @Relationship var others: [NotRelated]  // expect-error: declare 'RelationshipSet', or 'OrderedRelationshipSet' to keep an order
  @Relationship var set: Set<NotRelated>  // expect-error: declare 'RelationshipSet'
  @Relationship var other: NotRelated  // expect-error: declare an optional, and 'optional: false'
}

final class Computed: ManagedObject {
  @Derived("others.@count") var count: Int
  func set() { count = 1 }  // expect-error: 'count' is a get-only property
}

struct NoObject {
  @Attribute var name = ""  // expect-error: 'wrappedValue' is unavailable
  func read() -> String { name }
}
