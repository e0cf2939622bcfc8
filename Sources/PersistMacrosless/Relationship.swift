public import Persist

/// A property of a managed object's class that reads and writes a relationship of its entity.
///
/// A to-one relationship is an optional object, a to-many one a live ``RelationshipSet``.
///
/// ```swift
/// final class Item: ManagedObject {
///   @Relationship("category") var category: Category?
///   @Relationship("tags") var tags: RelationshipSet<Tag>
/// }
/// ```
@propertyWrapper
public struct Relationship<Value: RelationshipValue> {
  private let name: String

  /// - Parameter name: the relationship's name in the model.
  public init(_ name: String) { self.name = name }

  @available(*, unavailable, message: "Relationships are properties of subclasses of ManagedObject.")
  public var wrappedValue: Value {
    get { preconditionFailure("'\(name)' isn't a property of a managed object.") }
    set { preconditionFailure("'\(name)' isn't a property of a managed object.") }
  }

  public static subscript<Owner: ManagedObject>(
    _enclosingInstance owner: Owner, wrapped wrappedKeyPath: ReferenceWritableKeyPath<Owner, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<Owner, Relationship<Value>>
  ) -> Value {
    get {
      let name = owner[keyPath: storageKeyPath].name
      guard let property = owner.entity.property(named: name), property.relationship != nil else {
        preconditionFailure("The entity '\(owner.entity.name)' has no relationship '\(name)'.")
      }
      return Value.related(to: owner, at: property.slot)
    }
    set { owner[owner[keyPath: storageKeyPath].name] = newValue }
  }
}

/// What a property with ``Relationship`` may be: an optional object, or a set of objects.
public protocol RelationshipValue {
  /// The other ends of an object's relationship, by its slot.
  static func related(to owner: ManagedObject, at slot: Int) -> Self
}

extension Optional: RelationshipValue where Wrapped: ManagedObject {
  public static func related(to owner: ManagedObject, at slot: Int) -> Wrapped? {
    guard let object = owner.toOne(at: slot) else { return nil }
    guard let typed = object as? Wrapped else {
      preconditionFailure("\(object) is of class \(type(of: object)), not \(Wrapped.self): register its class.")
    }
    return typed
  }
}

extension RelationshipSet: RelationshipValue {
  public static func related(to owner: ManagedObject, at slot: Int) -> RelationshipSet<Element> {
    owner.toMany(at: slot)
  }
}
