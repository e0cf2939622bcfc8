/// A problem in a store, as found by a check of the store.
public struct StoreProblem: Sendable, Hashable {
  /// The kind of a problem. A struct rather than an enumeration, so that new kinds can be added without breaking
  /// programs.
  public struct Kind: Sendable, Hashable {
    /// The name printed by the command line.
    public let name: String

    /// SQLite's own check found damage in the file.
    public static let damagedDatabase = Kind(name: "damagedDatabase")
    /// The store has no table or column for a part of its model.
    public static let schemaMismatch = Kind(name: "schemaMismatch")
    /// A table has no primary key: another program has recreated it.
    public static let missingKey = Kind(name: "missingKey")
    /// The unique index of a uniqueness constraint is missing: equal values aren't refused.
    public static let missingIndex = Kind(name: "missingIndex")
    /// The file's log is missing, with the changes that it contained: the file was copied or moved without it.
    public static let missingLog = Kind(name: "missingLog")
    /// A row's entity number names no entity.
    public static let unknownEntity = Kind(name: "unknownEntity")
    /// A row is of an abstract entity.
    public static let abstractEntity = Kind(name: "abstractEntity")
    /// A row is in the table of a hierarchy other than its entity's.
    public static let wrongTable = Kind(name: "wrongTable")
    /// A relationship leads to a missing row.
    public static let danglingRelationship = Kind(name: "danglingRelationship")
    /// A relationship without an inverse leads to a missing row, since it isn't updated by the deletion. It reads as a
    /// deleted object, and no data is lost.
    public static let danglingReference = Kind(name: "danglingReference")
    /// A relationship leads to a row of an entity that isn't its destination's.
    public static let wrongDestination = Kind(name: "wrongDestination")
    /// The entity number beside a relationship's key isn't that of the destination row.
    public static let wrongEntityNumber = Kind(name: "wrongEntityNumber")
    /// One end of a one-to-one relationship leads to a row that doesn't lead back.
    public static let oneSidedRelationship = Kind(name: "oneSidedRelationship")
    /// A many-to-many relationship has the same member twice.
    public static let duplicateMember = Kind(name: "duplicateMember")
    /// A member of an ordered relationship has no position, as rows of other programs may. Such members come last, and
    /// no data is lost.
    public static let missingPosition = Kind(name: "missingPosition")
    /// Two members of an ordered relationship have the same position.
    public static let duplicatePosition = Kind(name: "duplicatePosition")
    /// A required property has no value.
    public static let missingValue = Kind(name: "missingValue")
    /// A column contains a value of the wrong type for its attribute, such as a text in a numeric attribute.
    public static let wrongType = Kind(name: "wrongType")
    /// The Swift type of a property can't read a value, or a part of one. The store keeps it, and the property reads as
    /// its default.
    public static let unreadableValue = Kind(name: "unreadableValue")
    /// Several rows have the same values for a uniqueness constraint.
    public static let duplicateValue = Kind(name: "duplicateValue")
    /// The greatest key assigned is less than one in use, or unknown.
    public static let keyCounter = Kind(name: "keyCounter")
    /// The full-text index of an attribute doesn't match its texts.
    public static let textIndex = Kind(name: "textIndex")
    /// An entry of the history refers to a transaction, a text or an entity that the store doesn't have. The objects
    /// are sound.
    public static let danglingHistory = Kind(name: "danglingHistory")
    /// Something that a migration parked can't come back, because its model or its place is missing or damaged. The
    /// objects are sound.
    public static let parkedValues = Kind(name: "parkedValues")
    /// The file of a large value is missing.
    public static let missingFile = Kind(name: "missingFile")
    /// The file of a large value belongs to no row. No data is lost.
    public static let orphanFile = Kind(name: "orphanFile")
    /// A large value of an encrypted store is in a file, which isn't encrypted: another program encrypted the store
    /// without it. A repair moves the value into its row. No data is lost.
    public static let unencryptedValue = Kind(name: "unencryptedValue")
    /// A killed migration or backup left files beside the store. No data is lost.
    public static let unfinishedWork = Kind(name: "unfinishedWork")
  }

  /// The kind of the problem, to compare with the constants of ``Kind``.
  public let kind: Kind
  /// The name of the entity concerned; nil if the problem isn't one of a particular entity.
  public let entity: String?
  /// The key of the row.
  public let pk: Int64?
  /// The name of the attribute or relationship concerned; nil if the problem isn't one of a particular property.
  public let property: String?
  /// The description of the problem, with the relevant values.
  public let detail: String

  /// Creates a problem from the parts that are known.
  package init(kind: Kind, entity: String? = nil, pk: Int64? = nil, property: String? = nil, detail: String) {
    self.kind = kind
    self.entity = entity
    self.pk = pk
    self.property = property
    self.detail = detail
  }

  /// Whether the store is sound despite the problem.
  public var isHarmless: Bool {
    [.orphanFile, .unencryptedValue, .unfinishedWork, .danglingReference, .missingPosition].contains(kind)
  }
}
