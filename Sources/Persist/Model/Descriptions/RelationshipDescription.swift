/// A relationship of an entity to another, or to itself.
///
/// ```swift
/// RelationshipDescription("category", to: "Category", inverse: "items")
/// RelationshipDescription("items", toMany: "Item", inverse: "category", deleteRule: .cascade)
/// ```
public struct RelationshipDescription: Sendable, Hashable {
  // One reference, as in an attribute's description.
  private var content: Content

  private struct Fields: Hashable {
    var name: String
    var destination: String
    var inverse: String?
    var isOptional: Bool
    var isTransient: Bool
    var isOrdered: Bool
    var minimumCount: Int
    var maximumCount: Int
    var deleteRule: DeleteRule
    var renamingIdentifier: String?
    var versionHashModifier: String?
    var userInfo: [String: String]
    var isIndexedBySpotlight: Bool
    var unknown: [String: String]
  }

  // @unchecked: changed only while one description refers to it.
  private final class Content: @unchecked Sendable, Hashable {
    @exclusivity(unchecked) var fields: Fields

    init(_ fields: Fields) { self.fields = fields }

    @inline(never)
    static func == (left: Content, right: Content) -> Bool { left === right || left.fields == right.fields }
    func hash(into hasher: inout Hasher) { hasher.combine(fields) }
  }

  /// The fields, before a change.
  @inline(never)
  private mutating func own() -> Content {
    if !isKnownUniquelyReferenced(&content) { content = Content(content.fields) }
    return content
  }

  /// The relationship's name, unique in its entity including inherited properties. Columns are named after it.
  public var name: String {
    get { content.fields.name }
    set { own().fields.name = newValue }
  }
  /// The name of the destination entity.
  public var destination: String {
    get { content.fields.destination }
    set { own().fields.destination = newValue }
  }
  /// The name of the destination's relationship in the opposite direction.
  public var inverse: String? {
    get { content.fields.inverse }
    set { own().fields.inverse = newValue }
  }
  /// Whether a to-one may be nil, and whether a to-many may be empty despite its ``minimumCount``.
  ///
  /// A required to-many without a minimum count may be empty, as in Core Data.
  public var isOptional: Bool {
    get { content.fields.isOptional }
    set { own().fields.isOptional = newValue }
  }
  /// Whether the relationship exists only in memory, without a column.
  public var isTransient: Bool {
    get { content.fields.isTransient }
    set { own().fields.isTransient = newValue }
  }
  /// Whether a to-many is ordered.
  public var isOrdered: Bool {
    get { content.fields.isOrdered }
    set { own().fields.isOrdered = newValue }
  }
  /// The minimum number of objects of a to-many that is required or not empty; 0 for none.
  public var minimumCount: Int {
    get { content.fields.minimumCount }
    set { own().fields.minimumCount = newValue }
  }
  /// The maximum number of objects: 1 makes the relationship to-one, 0 makes it an unlimited to-many.
  public var maximumCount: Int {
    get { content.fields.maximumCount }
    set { own().fields.maximumCount = newValue }
  }
  /// The effect of deleting the object on its related objects; ``DeleteRule/nullify`` by default.
  public var deleteRule: DeleteRule {
    get { content.fields.deleteRule }
    set { own().fields.deleteRule = newValue }
  }
  /// The relationship's name in an older version, if it was renamed since.
  public var renamingIdentifier: String? {
    get { content.fields.renamingIdentifier }
    set { own().fields.renamingIdentifier = newValue }
  }
  /// A string that changes this relationship's fingerprint although nothing else changed.
  public var versionHashModifier: String? {
    get { content.fields.versionHashModifier }
    set { own().fields.versionHashModifier = newValue }
  }
  /// Annotations by key, with no effect on the fingerprint.
  public var userInfo: [String: String] {
    get { content.fields.userInfo }
    _modify { yield &own().fields.userInfo }
  }
  /// Xcode's setting for Spotlight, preserved but without effect in Persist.
  public var isIndexedBySpotlight: Bool {
    get { content.fields.isIndexedBySpotlight }
    set { own().fields.isIndexedBySpotlight = newValue }
  }
  /// The relationship's entries in a model file that no property here represents, preserved unchanged.
  public var unknown: [String: String] {
    get { content.fields.unknown }
    _modify { yield &own().fields.unknown }
  }

  /// Creates a relationship from all its settings. The shorter initializers are for to-one and to-many ones.
  public init(
    name: String, destination: String, inverse: String?, minimumCount: Int, maximumCount: Int,
    isOptional: Bool = true, isTransient: Bool = false, isOrdered: Bool = false, deleteRule: DeleteRule = .nullify,
    renamingIdentifier: String? = nil, versionHashModifier: String? = nil, userInfo: [String: String] = [:],
    isIndexedBySpotlight: Bool = false, unknown: [String: String] = [:]
  ) {
    content = Content(
      Fields(
        name: name, destination: destination, inverse: inverse, isOptional: isOptional, isTransient: isTransient,
        isOrdered: isOrdered, minimumCount: minimumCount, maximumCount: maximumCount, deleteRule: deleteRule,
        renamingIdentifier: renamingIdentifier, versionHashModifier: versionHashModifier, userInfo: userInfo,
        isIndexedBySpotlight: isIndexedBySpotlight, unknown: unknown))
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
