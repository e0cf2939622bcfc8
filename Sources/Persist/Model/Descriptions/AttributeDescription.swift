package import Foundation

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

extension AttributeDescription {
  /// The key of ``isServerTimestamp`` in the user info.
  public static let serverTimestampKey = "PersistServerTimestamp"

  /// Whether a server contains the dates as moments with a time zone. Stored in ``userInfo``.
  ///
  /// A store on a server contains dates as seconds since 2001, like a file, so that no date changes when a store moves.
  /// For an attribute with this setting, it contains PostgreSQL's `timestamp with time zone`, which other programs read
  /// and write as such:
  ///
  /// ```swift
  /// var created = AttributeDescription("created", .date)
  /// created.isServerTimestamp = true
  /// ```
  ///
  /// In a model file, the attribute's user info has the same setting under the key `PersistServerTimestamp`: `YES`, `1`
  /// or `true`.
  ///
  /// The server's type has microseconds. Every value is therefore rounded to microseconds when it is set, in stores of
  /// any kind, so that a saved and fetched value equals it. Dates outside of the server's range, 4713 BC to 294276 AD,
  /// can't be saved there.
  ///
  /// The setting is part of the attribute's fingerprint: changing it is a migration in place, which converts the values
  /// on a server and changes nothing in a file. A store with dates in the other form can be read and written as well.
  ///
  /// - SeeAlso: <https://www.postgresql.org/docs/current/datatype-datetime.html>
  public var isServerTimestamp: Bool {
    get { ["yes", "1", "true"].contains(userInfo[Self.serverTimestampKey]?.lowercased()) }
    set { userInfo[Self.serverTimestampKey] = newValue ? "YES" : nil }
  }

  /// Whether dates are rounded to microseconds.
  package var roundsDates: Bool { type == .date && !isTransient && !userInfo.isEmpty && isServerTimestamp }
}

extension Date {
  /// The date with microseconds, as a server represents it.
  package var roundedToMicroseconds: Date {
    let microseconds = (timeIntervalSinceReferenceDate * 1_000_000).rounded()
    // Dates so far away have no fractions.
    guard abs(microseconds) < 0x1p62 else { return self }
    return Date(timeIntervalSinceReferenceDate: microseconds / 1_000_000)
  }
}
