public import Persist

// Types that other frameworks use for relationships. The compiler's message says what to declare instead; the members
// complete the conformances, and nothing can call them.

@available(*, unavailable, message: "declare 'RelationshipSet', or 'OrderedRelationshipSet' to keep an order")
extension Array: RelationshipValue where Element: ManagedObject {
  /// The class of the members.
  public typealias Destination = Element
  /// Always true.
  public static var isToMany: Bool { true }
  /// Always true.
  public static var isOrdered: Bool { true }
  /// Unavailable.
  public static func related(to owner: ManagedObject, at slot: Int) -> [Element] { [] }
  /// Unavailable.
  public func relate(to owner: ManagedObject, at slot: Int) {}
}

@available(*, unavailable, message: "declare 'RelationshipSet', or 'OrderedRelationshipSet' to keep an order")
extension Set: RelationshipValue where Element: ManagedObject {
  /// The class of the members.
  public typealias Destination = Element
  /// Always true.
  public static var isToMany: Bool { true }
  /// Always false.
  public static var isOrdered: Bool { false }
  /// Unavailable.
  public static func related(to owner: ManagedObject, at slot: Int) -> Set<Element> { [] }
  /// Unavailable.
  public func relate(to owner: ManagedObject, at slot: Int) {}
}

@available(*, unavailable, message: "declare an optional, and 'optional: false' if a save requires the object")
extension ManagedObject: RelationshipValue {
  /// The class of the related object.
  public typealias Destination = ManagedObject
  /// Always false.
  public static var isToMany: Bool { false }
  /// Always false.
  public static var isOrdered: Bool { false }
  /// Unavailable.
  public static func related(to owner: ManagedObject, at slot: Int) -> Self {
    preconditionFailure("A to-one relationship is optional.")
  }
  /// Unavailable.
  public func relate(to owner: ManagedObject, at slot: Int) {}
}
