import Foundation
import Persist

// Unchecked: as its superclass is.
/// An attribute of an entity.
open class NSAttributeDescription: NSPropertyDescription, @unchecked Sendable {
  /// The type of the values.
  open var attributeType = NSAttributeType.undefinedAttributeType { didSet { recordChange() } }
  /// The name of the values' class.
  open var attributeValueClassName: String? { didSet { recordChange() } }
  /// The value of new objects.
  open var defaultValue: Any? { didSet { recordChange() } }
  /// The name of the transformer of a transformable attribute.
  open var valueTransformerName: String? { didSet { recordChange() } }
  /// Whether large values are stored in files beside the store.
  open var allowsExternalBinaryDataStorage = false { didSet { recordChange() } }
  /// Whether the history keeps the value of a deleted object.
  open var preservesValueInHistoryOnDeletion = false { didSet { recordChange() } }
  /// Whether CloudKit encrypts the value. Without effect here.
  open var allowsCloudEncryption = false { didSet { recordChange() } }
  /// The description of a model file, with parts that this class has no property for.
  private var original: AttributeDescription?
  /// The name of a composite type in a model file.
  final var compositeName: String? { original?.compositeName }

  /// Creates a description.
  public required init() { super.init() }

  /// The attribute's type under its newer name.
  open var type: AttributeType {
    get { AttributeType(rawValue: attributeType.rawValue) }
    set { attributeType = NSAttributeType(rawValue: newValue.rawValue) ?? .undefinedAttributeType }
  }

  /// The type of an attribute, under its newer name.
  public struct AttributeType: RawRepresentable, Sendable, Hashable {
    /// The number of the type.
    public let rawValue: UInt

    /// Creates a type from its number.
    public init(rawValue: UInt) { self.rawValue = rawValue }
    private init(_ type: NSAttributeType) { rawValue = type.rawValue }

    /// No type; for transient attributes.
    public static let undefined = Self(.undefinedAttributeType)
    /// A signed integer of 16 bits.
    public static let integer16 = Self(.integer16AttributeType)
    /// A signed integer of 32 bits.
    public static let integer32 = Self(.integer32AttributeType)
    /// A signed integer of 64 bits.
    public static let integer64 = Self(.integer64AttributeType)
    /// A decimal number.
    public static let decimal = Self(.decimalAttributeType)
    /// A floating-point number of 64 bits.
    public static let double = Self(.doubleAttributeType)
    /// A floating-point number of 32 bits.
    public static let float = Self(.floatAttributeType)
    /// Text.
    public static let string = Self(.stringAttributeType)
    /// A truth value.
    public static let boolean = Self(.booleanAttributeType)
    /// A point in time.
    public static let date = Self(.dateAttributeType)
    /// Bytes.
    public static let binaryData = Self(.binaryDataAttributeType)
    /// A UUID.
    public static let uuid = Self(.UUIDAttributeType)
    /// A URI.
    public static let uri = Self(.URIAttributeType)
    /// A value that a transformer converts to bytes.
    public static let transformable = Self(.transformableAttributeType)
    /// An object's identifier; only for columns of requests.
    public static let objectID = Self(.objectIDAttributeType)
    /// Several attributes under one name.
    public static let composite = Self(.compositeAttributeType)
  }

  override func copy(to other: NSPropertyDescription) {
    super.copy(to: other)
    guard let other = other as? NSAttributeDescription else { return }
    other.attributeType = attributeType
    other.attributeValueClassName = attributeValueClassName
    other.defaultValue = defaultValue
    other.valueTransformerName = valueTransformerName
    other.allowsExternalBinaryDataStorage = allowsExternalBinaryDataStorage
    other.preservesValueInHistoryOnDeletion = preservesValueInHistoryOnDeletion
    other.allowsCloudEncryption = allowsCloudEncryption
    other.original = original
  }

  /// Takes the values of a description of Persist's.
  func adopt(_ attribute: AttributeDescription) {
    original = attribute
    name = attribute.name
    isOptional = attribute.isOptional
    isTransient = attribute.isTransient
    userInfo = attribute.userInfo
    renamingIdentifier = attribute.renamingIdentifier
    versionHashModifier = attribute.versionHashModifier
    isIndexed = attribute.isIndexed
    isIndexedBySpotlight = attribute.isIndexedBySpotlight
    attributeType = NSAttributeType(attribute.type)
    attributeValueClassName = attribute.valueClassName ?? attributeType.valueClassName
    defaultValue = FoundationValue.any(attribute.defaultValue)
    valueTransformerName = attribute.valueTransformerName
    allowsExternalBinaryDataStorage = attribute.allowsExternalStorage
    preservesValueInHistoryOnDeletion = attribute.preservesValueOnDeletion
    allowsCloudEncryption = attribute.allowsCloudEncryption
    let rules = attribute.validation.rules
    setValidationPredicates(
      rules.map { NSPredicate(format: $0.predicate) }, withValidationWarnings: rules.map { $0.warning ?? "" })
  }

  /// The derivation of a derived attribute, which a subclass has.
  var derivation: String? { nil }

  /// Returns the description that Persist builds a model from.
  func attribute() throws -> AttributeDescription {
    var attribute = original ?? AttributeDescription(name, .undefined)
    attribute.name = name
    attribute.type = attributeType.persistType
    attribute.isOptional = isOptional
    attribute.isTransient = isTransient
    attribute.userInfo = texts
    attribute.renamingIdentifier = renamingIdentifier
    attribute.versionHashModifier = versionHashModifier
    attribute.isIndexed = isIndexed
    attribute.isIndexedBySpotlight = isIndexedBySpotlight
    attribute.valueTransformerName = valueTransformerName
    attribute.allowsExternalStorage = allowsExternalBinaryDataStorage
    attribute.preservesValueOnDeletion = preservesValueInHistoryOnDeletion
    attribute.allowsCloudEncryption = allowsCloudEncryption
    attribute.derivation = derivation ?? attribute.derivation
    if attribute.type == .transformable { attribute.valueClassName = attributeValueClassName }
    attribute.defaultValue = try defaultValue.map(storedDefault) ?? .null
    attribute.validation.rules = try rules.map { rule in
      AttributeValidation.Rule(
        predicate: try rule.predicate.fetchPredicate().format,
        warning: rule.warning.flatMap { $0.isEmpty ? nil : $0 })
    }
    return attribute
  }

  private func storedDefault(_ value: Any) throws -> StoredValue {
    attributeType == .transformableAttributeType ? try .archived(value) : try PredicateArgument.value(value)
  }
}

// Unchecked: as its superclass is.
/// An attribute whose value the store computes from others.
open class NSDerivedAttributeDescription: NSAttributeDescription, @unchecked Sendable {
  /// The expression from which the store computes the value.
  open var derivationExpression: NSExpression? { didSet { recordChange() } }

  override var derivation: String? { derivationExpression?.fetchExpression.format }

  override func copy(to other: NSPropertyDescription) {
    super.copy(to: other)
    (other as? NSDerivedAttributeDescription)?.derivationExpression = derivationExpression
  }

  override func adopt(_ attribute: AttributeDescription) {
    super.adopt(attribute)
    derivationExpression = attribute.derivation.map { NSExpression(format: $0) }
  }
}

extension NSAttributeType {
  init(_ type: Persist.AttributeType) {
    self =
      switch type {
      case .int16: .integer16AttributeType
      case .int32: .integer32AttributeType
      case .int64: .integer64AttributeType
      case .decimal: .decimalAttributeType
      case .double: .doubleAttributeType
      case .float: .floatAttributeType
      case .string: .stringAttributeType
      case .boolean: .booleanAttributeType
      case .date: .dateAttributeType
      case .binary: .binaryDataAttributeType
      case .uuid: .UUIDAttributeType
      case .uri: .URIAttributeType
      case .transformable: .transformableAttributeType
      case .objectID: .objectIDAttributeType
      case .composite: .compositeAttributeType
      case .undefined: .undefinedAttributeType
      }
  }

  var persistType: Persist.AttributeType {
    switch self {
    case .integer16AttributeType: .int16
    case .integer32AttributeType: .int32
    case .integer64AttributeType: .int64
    case .decimalAttributeType: .decimal
    case .doubleAttributeType: .double
    case .floatAttributeType: .float
    case .stringAttributeType: .string
    case .booleanAttributeType: .boolean
    case .dateAttributeType: .date
    case .binaryDataAttributeType: .binary
    case .UUIDAttributeType: .uuid
    case .URIAttributeType: .uri
    case .transformableAttributeType: .transformable
    case .objectIDAttributeType: .objectID
    case .compositeAttributeType: .composite
    case .undefinedAttributeType: .undefined
    }
  }

  /// The class of the values on Apple's platforms.
  var valueClassName: String? { persistType.traits.className }
}
