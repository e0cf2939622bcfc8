/// One thing that is wrong in a store, as ``StoreCheck`` finds it.
public struct StoreProblem: Sendable, Hashable {
  /// What is wrong. A struct, not an enumeration, so that new kinds can come without breaking a program.
  public struct Kind: Sendable, Hashable {
    /// The name that the command line prints.
    public let name: String

    /// SQLite's own check found damage in the file.
    public static let damagedDatabase = Kind(name: "damagedDatabase")
    /// The store has no table or column for something that its model has.
    public static let schemaMismatch = Kind(name: "schemaMismatch")
    /// A row's entity number names no entity.
    public static let unknownEntity = Kind(name: "unknownEntity")
    /// A row is of an abstract entity.
    public static let abstractEntity = Kind(name: "abstractEntity")
    /// A row stands in the table of another hierarchy than its entity's.
    public static let wrongTable = Kind(name: "wrongTable")
    /// A relationship leads to a row that isn't there.
    public static let danglingRelationship = Kind(name: "danglingRelationship")
    /// A relationship without an inverse leads to a row that isn't there: nothing told it of the deletion. It reads as
    /// an object that is deleted, and nothing is lost by it.
    public static let danglingReference = Kind(name: "danglingReference")
    /// A relationship leads to a row of an entity that isn't its destination's.
    public static let wrongDestination = Kind(name: "wrongDestination")
    /// The entity number beside a relationship's key isn't that of the row it leads to.
    public static let wrongEntityNumber = Kind(name: "wrongEntityNumber")
    /// One end of a one-to-one relationship leads to a row that doesn't lead back.
    public static let oneSidedRelationship = Kind(name: "oneSidedRelationship")
    /// A many-to-many relationship has the same member twice.
    public static let duplicateMember = Kind(name: "duplicateMember")
    /// A member of an ordered relationship has no position.
    public static let missingPosition = Kind(name: "missingPosition")
    /// Two members of an ordered relationship have one position.
    public static let duplicatePosition = Kind(name: "duplicatePosition")
    /// A required property has no value.
    public static let missingValue = Kind(name: "missingValue")
    /// A column holds a value of a kind that its attribute's type doesn't have, such as a text where a number belongs.
    public static let wrongType = Kind(name: "wrongType")
    /// Several rows have the values that a uniqueness constraint allows once.
    public static let duplicateValue = Kind(name: "duplicateValue")
    /// The greatest key given out is below one that is in use, or isn't known.
    public static let keyCounter = Kind(name: "keyCounter")
    /// The index of an attribute's words isn't what its texts have.
    public static let textIndex = Kind(name: "textIndex")
    /// The file of an externally stored value isn't there.
    public static let missingFile = Kind(name: "missingFile")
    /// A file of an externally stored value belongs to no row. Nothing is lost by it.
    public static let orphanFile = Kind(name: "orphanFile")
    /// Beside the store is what a killed migration or backup left. Nothing is lost by it.
    public static let unfinishedWork = Kind(name: "unfinishedWork")
  }

  public let kind: Kind
  public let entity: String?
  /// The key of the row.
  public let pk: Int64?
  public let property: String?
  /// What is wrong, in words and with the values that matter.
  public let detail: String

  public init(kind: Kind, entity: String? = nil, pk: Int64? = nil, property: String? = nil, detail: String) {
    self.kind = kind
    self.entity = entity
    self.pk = pk
    self.property = property
    self.detail = detail
  }

  /// Whether the store is sound all the same.
  public var isHarmless: Bool { [.orphanFile, .unfinishedWork, .danglingReference].contains(kind) }
}
