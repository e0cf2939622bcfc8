public import Persist

/// A property of a managed object's class that reads and writes an attribute of its entity.
///
/// ```swift
/// final class Item: ManagedObject {
///   @Attribute("name") var name: String
///   @Attribute("price") var price: Decimal?
/// }
/// ```
///
/// The type is the attribute's: the integers for `int16 int32 int64`, `Double` and `Float`, `Bool`, `Decimal`,
/// `String`, `Date`, `Data`, `UUID?` and `URL?`, each also as an optional. A name that the entity doesn't have, or a
/// value that the attribute doesn't take, stops the program with a sentence.
@propertyWrapper
public struct Attribute<Value: AttributeValue> {
  private let name: String

  /// - Parameter name: the attribute's name in the model.
  public init(_ name: String) { self.name = name }

  @available(*, unavailable, message: "Attributes are properties of subclasses of ManagedObject.")
  public var wrappedValue: Value {
    get { preconditionFailure("'\(name)' isn't a property of a managed object.") }
    set { preconditionFailure("'\(name)' isn't a property of a managed object.") }
  }

  public static subscript<Owner: ManagedObject>(
    _enclosingInstance owner: Owner, wrapped wrappedKeyPath: ReferenceWritableKeyPath<Owner, Value>,
    storage storageKeyPath: ReferenceWritableKeyPath<Owner, Attribute<Value>>
  ) -> Value {
    get {
      let name = owner[keyPath: storageKeyPath].name
      guard let property = owner.entity.property(named: name), property.attribute != nil else {
        preconditionFailure("The entity '\(owner.entity.name)' has no attribute '\(name)'.")
      }
      return Value(stored: owner.attributeValue(at: property.slot)) ?? .absent
    }
    set { owner[owner[keyPath: storageKeyPath].name] = newValue.stored }
  }
}
