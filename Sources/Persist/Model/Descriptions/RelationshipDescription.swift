/// A relationship of an entity to another, or to itself.
///
/// ```swift
/// RelationshipDescription("category", to: "Category", inverse: "items")
/// RelationshipDescription("items", toMany: "Item", inverse: "category", deleteRule: .cascade)
/// ```
public struct RelationshipDescription: Sendable, Hashable {
  /// The relationship's name, unique in its entity including inherited properties. Columns are named after it.
  public var name: String
  /// The name of the destination entity.
  public var destination: String
  /// The name of the destination's relationship in the opposite direction.
  public var inverse: String?
  /// Whether a to-one may be nil, and whether a to-many may be empty despite its ``minimumCount``.
  ///
  /// A required to-many without a minimum count may be empty, as in Core Data.
  public var isOptional: Bool
  /// Whether the relationship exists only in memory, without a column.
  public var isTransient: Bool
  /// Whether a to-many is ordered.
  public var isOrdered: Bool
  /// The minimum number of objects of a to-many that is required or not empty; 0 for none.
  public var minimumCount: Int
  /// The maximum number of objects: 1 makes the relationship to-one, 0 makes it an unlimited to-many.
  public var maximumCount: Int
  /// The effect of deleting the object on its related objects; ``DeleteRule/nullify`` by default.
  public var deleteRule: DeleteRule
  /// The relationship's name in an older version, if it was renamed since.
  public var renamingIdentifier: String?
  /// A string that changes this relationship's fingerprint although nothing else changed.
  public var versionHashModifier: String?
  /// Annotations by key, with no effect on the fingerprint.
  public var userInfo: [String: String]
  /// Xcode's setting for Spotlight, preserved but without effect in Persist.
  public var isIndexedBySpotlight: Bool
  /// The relationship's entries in a model file that no property here represents, preserved unchanged.
  public var unknown: [String: String]

  /// Creates a relationship from all its settings. The shorter initializers are for to-one and to-many ones.
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

  /// Whether the relationship can have several objects: ``maximumCount`` isn't 1.
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
