public import Persist

/// A type for properties with ``Relationship``: an optional object, or a set of objects.
public protocol RelationshipValue {
  /// The class of the objects at the other end.
  associatedtype Destination: ManagedObject

  /// Whether the relationship can have several objects at its other end.
  static var isToMany: Bool { get }
  /// Whether the members have positions that the store keeps; false for a to-one relationship.
  static var isOrdered: Bool { get }
  /// Returns the other end of an object's relationship.
  static func related(to owner: ManagedObject, at slot: Int) -> Self
  /// Sets the other end of an object's relationship to this value.
  func relate(to owner: ManagedObject, at slot: Int)
}

extension Optional: RelationshipValue where Wrapped: ManagedObject {
  /// The class of the related object.
  public typealias Destination = Wrapped

  /// Always false.
  public static var isToMany: Bool { false }
  /// Always false.
  public static var isOrdered: Bool { false }
  /// Returns the related object; nil for none. It may be a fault. Traps if it isn't of the class `Wrapped`, which must
  /// then be registered for the entity.
  public static func related(to owner: ManagedObject, at slot: Int) -> Wrapped? {
    guard let object = owner.toOne(at: slot) else { return owner.followedDestination(as: Wrapped.self) }
    guard let typed = object as? Wrapped else {
      preconditionFailure("\(object) is of class \(type(of: object)), not \(Wrapped.self): register its class.")
    }
    return typed
  }
  /// Sets the related object, or nil for none, and updates the inverse.
  public func relate(to owner: ManagedObject, at slot: Int) { owner.setToOne(self, at: slot) }
}

extension RelationshipSet: RelationshipValue {
  /// The class of the members.
  public typealias Destination = Element

  /// Always true.
  public static var isToMany: Bool { true }
  /// Always false: the order of the members is arbitrary.
  public static var isOrdered: Bool { false }
  /// Returns a live view of a relationship's members; nothing is read until it is used.
  public static func related(to owner: ManagedObject, at slot: Int) -> RelationshipSet<Element> {
    owner.toMany(at: slot)
  }
  /// Replaces a relationship's members with these and updates the inverse.
  public func relate(to owner: ManagedObject, at slot: Int) {
    owner.toMany(at: slot, of: Element.self).replace(with: self)
  }
}
