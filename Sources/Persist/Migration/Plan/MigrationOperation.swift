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

  public var kind: Kind
  public var entity: String
  /// The attribute or relationship; the properties of a uniqueness constraint; the name of an index; nil if the entity
  /// itself differs.
  public var property: String?
  public var newName: String?
  /// A description of the difference, such as `int16 → int64`; nil if the kind is sufficient.
  public var detail: String?
  public var way: MigrationWay
  /// Whether the old model can represent something that the new one can't, so that values may be lost.
  public var losesData: Bool
  /// The obstacle if ``way`` is ``MigrationWay/impossible``.
  public var obstacle: MigrationBlocker?

  public init(
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
  public static let addEntity = Self(rawValue: "addEntity")
  public static let removeEntity = Self(rawValue: "removeEntity")
  public static let renameEntity = Self(rawValue: "renameEntity")
  public static let changeParent = Self(rawValue: "changeParent")
  public static let changeAbstract = Self(rawValue: "changeAbstract")
  public static let addUniquenessConstraint = Self(rawValue: "addUniquenessConstraint")
  public static let removeUniquenessConstraint = Self(rawValue: "removeUniquenessConstraint")
  public static let addIndex = Self(rawValue: "addIndex")
  public static let removeIndex = Self(rawValue: "removeIndex")
  public static let changeIndex = Self(rawValue: "changeIndex")

  public static let addAttribute = Self(rawValue: "addAttribute")
  public static let removeAttribute = Self(rawValue: "removeAttribute")
  public static let renameAttribute = Self(rawValue: "renameAttribute")
  /// The attribute moves up or down the hierarchy.
  public static let moveAttribute = Self(rawValue: "moveAttribute")
  public static let changeAttributeType = Self(rawValue: "changeAttributeType")
  public static let makeAttributeRequired = Self(rawValue: "makeAttributeRequired")
  public static let makeAttributeOptional = Self(rawValue: "makeAttributeOptional")
  public static let makeAttributeTransient = Self(rawValue: "makeAttributeTransient")
  public static let makeAttributePersistent = Self(rawValue: "makeAttributePersistent")
  public static let changeExternalStorage = Self(rawValue: "changeExternalStorage")
  public static let changeDerivation = Self(rawValue: "changeDerivation")
  /// Elements of a composite attribute are added, removed or change their types.
  public static let changeElements = Self(rawValue: "changeElements")
  public static let changeDefault = Self(rawValue: "changeDefault")
  public static let changeTransformer = Self(rawValue: "changeTransformer")

  public static let addRelationship = Self(rawValue: "addRelationship")
  public static let removeRelationship = Self(rawValue: "removeRelationship")
  public static let renameRelationship = Self(rawValue: "renameRelationship")
  /// The relationship moves up or down the hierarchy.
  public static let moveRelationship = Self(rawValue: "moveRelationship")
  public static let changeDestination = Self(rawValue: "changeDestination")
  public static let changeInverse = Self(rawValue: "changeInverse")
  public static let makeToMany = Self(rawValue: "makeToMany")
  public static let makeToOne = Self(rawValue: "makeToOne")
  public static let makeOrdered = Self(rawValue: "makeOrdered")
  public static let makeUnordered = Self(rawValue: "makeUnordered")
  public static let makeRelationshipRequired = Self(rawValue: "makeRelationshipRequired")
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
