public import Persist

/// A type for properties with ``Relationship``: an optional object, or a set of objects.
public protocol RelationshipValue {
  /// The class of the objects at the other end.
  associatedtype Destination: ManagedObject

  static var isToMany: Bool { get }
  static var isOrdered: Bool { get }
  /// Returns the other end of an object's relationship.
  static func related(to owner: ManagedObject, at slot: Int) -> Self
  /// Sets the other end of an object's relationship to this value.
  func relate(to owner: ManagedObject, at slot: Int)
}

extension Optional: RelationshipValue where Wrapped: ManagedObject {
  public typealias Destination = Wrapped

  public static var isToMany: Bool { false }
  public static var isOrdered: Bool { false }
  public static func related(to owner: ManagedObject, at slot: Int) -> Wrapped? {
    guard let object = owner.toOne(at: slot) else { return owner.followedDestination(as: Wrapped.self) }
    guard let typed = object as? Wrapped else {
      preconditionFailure("\(object) is of class \(type(of: object)), not \(Wrapped.self): register its class.")
    }
    return typed
  }
  public func relate(to owner: ManagedObject, at slot: Int) { owner.setToOne(self, at: slot) }
}

extension RelationshipSet: RelationshipValue {
  public typealias Destination = Element

  public static var isToMany: Bool { true }
  public static var isOrdered: Bool { false }
  public static func related(to owner: ManagedObject, at slot: Int) -> RelationshipSet<Element> {
    owner.toMany(at: slot)
  }
  public func relate(to owner: ManagedObject, at slot: Int) {
    owner.toMany(at: slot, of: Element.self).replace(with: self)
  }
}
