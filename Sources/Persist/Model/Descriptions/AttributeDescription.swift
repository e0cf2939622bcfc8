/// An attribute of an entity: its type, its rules, its default.
///
/// ```swift
/// AttributeDescription("quantity", .int32, isOptional: false, default: .integer(1))
/// ```
public struct AttributeDescription: Sendable, Hashable {
  /// The attribute's name, unique in its entity including inherited properties. Columns are named after it.
  public var name: String
  /// The type of the values; it determines the column's type and which ``StoredValue`` case the values have.
  public var type: AttributeType
  /// Whether nil is a valid value. True by default, as in Core Data.
  public var isOptional: Bool
  /// Whether the value exists only in memory, without a column.
  public var isTransient: Bool
  /// The value in a new object; ``StoredValue/null`` for none.
  public var defaultValue: StoredValue
  /// The attribute's name in an older version, if it was renamed since.
  public var renamingIdentifier: String?
  /// A string that changes this attribute's fingerprint although nothing else changed.
  public var versionHashModifier: String?
  /// Annotations by key, with no effect on the fingerprint. Persist reads ``FullTextSearch/userInfoKey``.
  public var userInfo: [String: String]

  /// The Swift or Objective-C class of the values, for transformable attributes and custom ones.
  public var valueClassName: String?
  /// The transformer that archives the values of a transformable attribute.
  public var valueTransformerName: String?
  /// Whether large values may be stored in files next to the store. Only binary and transformable values can be.
  public var allowsExternalStorage: Bool
  /// Whether a store's history keeps the value when its object is deleted: see ``HistoryChange/tombstone``.
  public var preservesValueOnDeletion: Bool
  /// The expression that computes a derived attribute's value, such as `articles.@count`; nil for other attributes.
  public var derivation: String?
  /// The name of a composite attribute's composite type.
  public var compositeName: String?
  /// The rules that values are checked against before a save; empty by default.
  public var validation: AttributeValidation
  /// Whether a generated class uses a scalar type.
  public var usesScalarType: Bool
  /// Whether the attribute requests its own index in the old form, without a ``FetchIndexDescription``.
  public var isIndexed: Bool
  /// Xcode's setting for Spotlight, preserved but without effect in Persist.
  public var isIndexedBySpotlight: Bool
  /// Xcode's setting for encryption in iCloud, preserved but without effect in Persist.
  public var allowsCloudEncryption: Bool
  /// The attribute's entries in a model file that no property here represents, preserved unchanged.
  public var unknown: [String: String]

  /// Creates an attribute. By default it is optional, stored and without a default value.
  @inline(never)
  public init(
    _ name: String, _ type: AttributeType, isOptional: Bool = true, isTransient: Bool = false,
    default defaultValue: StoredValue = .null, renamingIdentifier: String? = nil,
    versionHashModifier: String? = nil, userInfo: [String: String] = [:], valueClassName: String? = nil,
    valueTransformerName: String? = nil, allowsExternalStorage: Bool = false,
    preservesValueOnDeletion: Bool = false, derivation: String? = nil, compositeName: String? = nil,
    validation: AttributeValidation = AttributeValidation(), usesScalarType: Bool = false, isIndexed: Bool = false,
    isIndexedBySpotlight: Bool = false, allowsCloudEncryption: Bool = false, unknown: [String: String] = [:]
  ) {
    self.name = name
    self.type = type
    self.isOptional = isOptional
    self.isTransient = isTransient
    self.defaultValue = defaultValue
    self.renamingIdentifier = renamingIdentifier
    self.versionHashModifier = versionHashModifier
    self.userInfo = userInfo
    self.valueClassName = valueClassName
    self.valueTransformerName = valueTransformerName
    self.allowsExternalStorage = allowsExternalStorage
    self.preservesValueOnDeletion = preservesValueOnDeletion
    self.derivation = derivation
    self.compositeName = compositeName
    self.validation = validation
    self.usesScalarType = usesScalarType
    self.isIndexed = isIndexed
    self.isIndexedBySpotlight = isIndexedBySpotlight
    self.allowsCloudEncryption = allowsCloudEncryption
    self.unknown = unknown
  }

  /// Whether Persist computes the value from other properties.
  public var isDerived: Bool { derivation != nil }

  /// Whether a byte precedes each stored value and marks it as the value itself or as the name of a file.
  ///
  /// As in Core Data, values of types without bytes are stored without it, although they allow external storage.
  package var storesMarkedBytes: Bool { allowsExternalStorage && (type == .binary || type == .transformable) }
}
