/// A composite type: several attributes under one name, stored in columns of the entity that uses it.
public struct CompositeDescription: Sendable, Hashable {
  /// The type's name, unique in the model; attributes refer to it by ``AttributeDescription/compositeName``.
  public var name: String
  /// The type's elements; a composite element names another composite type.
  public var elements: [AttributeDescription]
  /// Annotations by key, with no effect on the fingerprint.
  public var userInfo: [String: String]
  /// The type's entries in a model file that no property here represents, preserved unchanged.
  public var unknown: [String: String]

  /// Creates a composite type from its elements.
  public init(
    _ name: String, elements: [AttributeDescription], userInfo: [String: String] = [:],
    unknown: [String: String] = [:]
  ) {
    self.name = name
    self.elements = elements
    self.userInfo = userInfo
    self.unknown = unknown
  }
}
