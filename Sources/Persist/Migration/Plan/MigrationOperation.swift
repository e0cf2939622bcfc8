/// A difference between two models, and its effect on a store.
///
/// Names are the new model's if the new model contains the element, except that a rename has the old name in ``entity``
/// or ``property`` and the new one in ``newName``.
public struct MigrationOperation: Sendable, Hashable {
  /// The kind of difference. A struct, not an enumeration, so that adding kinds doesn't break programs.
  public struct Kind: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// The kind of difference, to compare with the constants of ``Kind``.
  public var kind: Kind
  /// The name of the entity concerned; the old name if the entity is renamed.
  public var entity: String
  /// The attribute or relationship; the properties of a uniqueness constraint; the name of an index; nil if the entity
  /// itself differs.
  public var property: String?
  /// The new name of a renamed entity or property; nil for other kinds.
  public var newName: String?
  /// A description of the difference, such as `int16 → int64`; nil if the kind is sufficient.
  public var detail: String?
  /// The work that the difference requires: none, SQL in place, or a copy; or that it is impossible.
  public var way: MigrationWay
  /// Whether the old model can represent something that the new one can't, so that values may be lost.
  public var losesData: Bool
  /// The obstacle if ``way`` is ``MigrationWay/impossible``.
  public var obstacle: MigrationBlocker?

  /// Creates an operation, by default one in place that loses nothing.
  @inline(never)
  init(
    _ kind: Kind, entity: String, property: String? = nil, newName: String? = nil, detail: String? = nil,
    way: MigrationWay = .inPlace, losesData: Bool = false, obstacle: MigrationBlocker? = nil
  ) {
    self.kind = kind
    self.entity = entity
    self.property = property
    self.newName = newName
    self.detail = detail
    self.way = way
    self.losesData = losesData
    self.obstacle = obstacle
  }
}

extension MigrationOperation.Kind {
  /// The entity is new and has no rows yet.
  public static let addEntity = Self(rawValue: "addEntity")
  /// The entity no longer exists. Its rows are deleted.
  public static let removeEntity = Self(rawValue: "removeEntity")
  /// The entity has another name. Its rows are kept.
  public static let renameEntity = Self(rawValue: "renameEntity")
  /// The entity has another parent, or none. Impossible without a mapping model if rows of two tables would be merged.
  public static let changeParent = Self(rawValue: "changeParent")
  /// The entity became abstract or is no longer abstract.
  public static let changeAbstract = Self(rawValue: "changeAbstract")
  /// The combined values of some properties must be unique from now on. A store with duplicates can't be migrated.
  public static let addUniquenessConstraint = Self(rawValue: "addUniquenessConstraint")
  /// A uniqueness constraint no longer applies.
  public static let removeUniquenessConstraint = Self(rawValue: "removeUniquenessConstraint")
  /// The entity has a new index.
  public static let addIndex = Self(rawValue: "addIndex")
  /// An index of the entity no longer exists.
  public static let removeIndex = Self(rawValue: "removeIndex")
  /// An index of the same name has other elements or another condition.
  public static let changeIndex = Self(rawValue: "changeIndex")

  /// The attribute is new: existing rows get its default. They prevent adding a required attribute without one.
  public static let addAttribute = Self(rawValue: "addAttribute")
  /// The attribute no longer exists. Its values are lost.
  public static let removeAttribute = Self(rawValue: "removeAttribute")
  /// The attribute has another name. Its values are kept.
  public static let renameAttribute = Self(rawValue: "renameAttribute")
  /// The attribute moves up or down the hierarchy.
  public static let moveAttribute = Self(rawValue: "moveAttribute")
  /// The attribute has another type. Without a mapping model, every value must have an exact equal in the new type.
  public static let changeAttributeType = Self(rawValue: "changeAttributeType")
  /// The attribute can no longer be null. Missing values become its default; without one they prevent the migration.
  public static let makeAttributeRequired = Self(rawValue: "makeAttributeRequired")
  /// The attribute may be null from now on.
  public static let makeAttributeOptional = Self(rawValue: "makeAttributeOptional")
  /// The attribute is no longer stored. Its values are lost.
  public static let makeAttributeTransient = Self(rawValue: "makeAttributeTransient")
  /// The attribute is stored from now on: existing rows get its default.
  public static let makeAttributePersistent = Self(rawValue: "makeAttributePersistent")
  /// Large values may be stored in separate files from now on, or no longer. Values that already are in files prevent
  /// the latter.
  public static let changeExternalStorage = Self(rawValue: "changeExternalStorage")
  /// The attribute becomes derived, is no longer derived, or is computed by another expression. If it becomes derived,
  /// its stored values are lost.
  public static let changeDerivation = Self(rawValue: "changeDerivation")
  /// Elements of a composite attribute are added, removed or change their types.
  public static let changeElements = Self(rawValue: "changeElements")
  /// New objects get another value. Existing rows are unchanged.
  public static let changeDefault = Self(rawValue: "changeDefault")
  /// The values are archived by another transformer. Stored bytes aren't converted.
  public static let changeTransformer = Self(rawValue: "changeTransformer")

  /// The relationship is new and empty.
  public static let addRelationship = Self(rawValue: "addRelationship")
  /// The relationship no longer exists. Its references are lost, but not the objects.
  public static let removeRelationship = Self(rawValue: "removeRelationship")
  /// The relationship has another name. Its references are kept.
  public static let renameRelationship = Self(rawValue: "renameRelationship")
  /// The relationship moves up or down the hierarchy.
  public static let moveRelationship = Self(rawValue: "moveRelationship")
  /// The relationship leads to another entity. References to objects outside of it are lost.
  public static let changeDestination = Self(rawValue: "changeDestination")
  /// The relationship has another inverse, or has one from now on, or no longer.
  public static let changeInverse = Self(rawValue: "changeInverse")
  /// A to-one relationship becomes to-many: its object is the only member.
  public static let makeToMany = Self(rawValue: "makeToMany")
  /// A to-many relationship becomes to-one.
  public static let makeToOne = Self(rawValue: "makeToOne")
  /// The members of the relationship are ordered from now on.
  public static let makeOrdered = Self(rawValue: "makeOrdered")
  /// The members of the relationship are no longer ordered. Their order is lost.
  public static let makeUnordered = Self(rawValue: "makeUnordered")
  /// A to-one relationship can no longer be empty.
  public static let makeRelationshipRequired = Self(rawValue: "makeRelationshipRequired")
  /// A to-one relationship may be empty from now on.
  public static let makeRelationshipOptional = Self(rawValue: "makeRelationshipOptional")

  /// A change without effect on stored data: rules, counts, delete rules, hash modifiers, class names.
  public static let changeRules = Self(rawValue: "changeRules")

  /// An entity mapping of a mapping model is executed.
  public static let mapEntity = Self(rawValue: "mapEntity")
  /// A stage's custom code runs.
  public static let runStage = Self(rawValue: "runStage")

  // Steps that follow from others.
  /// Entity numbers are aligned with the new model's order.
  public static let renumberEntities = Self(rawValue: "renumberEntities")
  /// Indexes and tables are aligned with other changes.
  public static let alignSchema = Self(rawValue: "alignSchema")
  /// The store's model metadata is updated.
  public static let updateMetadata = Self(rawValue: "updateMetadata")
}
