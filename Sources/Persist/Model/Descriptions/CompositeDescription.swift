/// A composite type: several attributes under one name, stored in columns of the entity that uses it.
public struct CompositeDescription: Sendable, Hashable {
  public var name: String
  /// Its elements; one that is composite names another composite type.
  public var elements: [AttributeDescription]
  public var userInfo: [String: String]
  /// What a model file says of the type that no property here stands for, kept as it was.
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
