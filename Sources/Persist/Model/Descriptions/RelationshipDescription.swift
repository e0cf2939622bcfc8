/// A relationship of an entity to another, or to itself.
///
/// ```swift
/// RelationshipDescription("category", to: "Category", inverse: "items")
/// RelationshipDescription("items", toMany: "Item", inverse: "category", deleteRule: .cascade)
/// ```
public struct RelationshipDescription: Sendable, Hashable {
  public var name: String
  /// The name of the destination entity.
  public var destination: String
  /// The name of the destination's relationship in the opposite direction.
  public var inverse: String?
  /// Whether a to-one may be nil, and whether a to-many may be empty despite its ``minimumCount``.
  ///
  /// A required to-many without a minimum count may be empty, as in Core Data.
  public var isOptional: Bool
  public var isTransient: Bool
  /// Whether a to-many is ordered.
  public var isOrdered: Bool
  /// The minimum number of objects of a to-many that is required or not empty; 0 for none.
  public var minimumCount: Int
  /// The maximum number of objects: 1 makes the relationship to-one, 0 makes it an unlimited to-many.
  public var maximumCount: Int
  public var deleteRule: DeleteRule
  public var renamingIdentifier: String?
  public var versionHashModifier: String?
  public var userInfo: [String: String]
  public var isIndexedBySpotlight: Bool
  /// The relationship's entries in a model file that no property here represents, preserved unchanged.
  public var unknown: [String: String]

  public init(
    name: String, destination: String, inverse: String?, minimumCount: Int, maximumCount: Int,
    isOptional: Bool = true, isTransient: Bool = false, isOrdered: Bool = false, deleteRule: DeleteRule = .nullify,
    renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:],
    isIndexedBySpotlight: Bool = false, unknown: [String: String] = [:]
  ) {
    self.name = name
    self.destination = destination
    self.inverse = inverse
    self.minimumCount = minimumCount
    self.maximumCount = maximumCount
    self.isOptional = isOptional
    self.isTransient = isTransient
    self.isOrdered = isOrdered
    self.deleteRule = deleteRule
    self.renamingIdentifier = renamingIdentifier
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
    self.isIndexedBySpotlight = isIndexedBySpotlight
    self.unknown = unknown
  }

  /// A to-one relationship.
  public init(
    _ name: String, to destination: String, inverse: String? = nil, isOptional: Bool = true,
    deleteRule: DeleteRule = .nullify, renamingIdentifier: String? = nil
  ) {
    self.init(
      name: name, destination: destination, inverse: inverse, minimumCount: 0, maximumCount: 1,
      isOptional: isOptional, deleteRule: deleteRule, renamingIdentifier: renamingIdentifier)
  }

  /// A to-many relationship.
  public init(
    _ name: String, toMany destination: String, inverse: String? = nil, isOrdered: Bool = false,
    isOptional: Bool = true, minimumCount: Int = 0, maximumCount: Int = 0, deleteRule: DeleteRule = .nullify,
    renamingIdentifier: String? = nil
  ) {
    self.init(
      name: name, destination: destination, inverse: inverse, minimumCount: minimumCount,
      maximumCount: maximumCount, isOptional: isOptional, isOrdered: isOrdered, deleteRule: deleteRule,
      renamingIdentifier: renamingIdentifier)
  }

  public var isToMany: Bool { maximumCount != 1 }
}

/// The effect of deleting an object on the objects at the other end. Raw values are Core Data's.
public enum DeleteRule: Int, Sendable, Hashable, CaseIterable {
  /// No effect; the other end may keep a dangling reference.
  case noAction = 0
  /// The other end's reference is removed.
  case nullify = 1
  /// The other end is deleted too.
  case cascade = 2
  /// The object can't be deleted while the relationship has objects.
  case deny = 3
}
