/// A composite type: several attributes under one name, stored in columns of the entity that uses it.
public struct CompositeDescription: Sendable, Hashable {
  public var name: String
  /// The type's elements; a composite element names another composite type.
  public var elements: [AttributeDescription]
  public var userInfo: [String: String]
  /// The type's entries in a model file that no property here represents, preserved unchanged.
  public var unknown: [String: String]

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
