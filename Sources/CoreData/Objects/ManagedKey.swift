import Persist

/// The name of an `@NSManaged` property, prepared for fast lookups in the object's entity.
///
/// The source pass declares one for each property.
public struct ManagedKey: Sendable, ExpressibleByStringLiteral {
  package let property: PropertyKey

  /// Prepares a property's name.
  public init(_ name: String) { property = PropertyKey(name) }

  /// Prepares a property's name.
  public init(stringLiteral name: String) { self.init(name) }

  var name: String { property.name }
}
