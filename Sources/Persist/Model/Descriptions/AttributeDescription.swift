package import Foundation

/// An attribute of an entity: its type, its rules, its default.
///
/// ```swift
/// AttributeDescription("quantity", .int32, isOptional: false, default: .integer(1))
/// ```
public struct AttributeDescription: Sendable, Hashable {
  // One reference: descriptions are copied in many places, where copies of twenty fields would be machine code.
  private var content: Content

  private struct Fields: Hashable {
    var name: String
    var type: AttributeType
    var isOptional: Bool
    var isTransient: Bool
    var defaultValue: StoredValue
    var renamingIdentifier: String?
    var versionHashModifier: String?
    var userInfo: [String: String]
    var valueClassName: String?
    var valueTransformerName: String?
    var allowsExternalStorage: Bool
    var preservesValueOnDeletion: Bool
    var derivation: String?
    var compositeName: String?
    var validation: AttributeValidation
    var usesScalarType: Bool
    var isIndexed: Bool
    var isIndexedBySpotlight: Bool
    var allowsCloudEncryption: Bool
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

  /// The attribute's name, unique in its entity including inherited properties. Columns are named after it.
  public var name: String {
    get { content.fields.name }
    set { own().fields.name = newValue }
  }
  /// The type of the values; it determines the column's type and which ``StoredValue`` case the values have.
  public var type: AttributeType {
    get { content.fields.type }
    set { own().fields.type = newValue }
  }
  /// Whether nil is a valid value. True by default, as in Core Data.
  public var isOptional: Bool {
    get { content.fields.isOptional }
    set { own().fields.isOptional = newValue }
  }
  /// Whether the value exists only in memory, without a column.
  public var isTransient: Bool {
    get { content.fields.isTransient }
    set { own().fields.isTransient = newValue }
  }
  /// The value in a new object; ``StoredValue/null`` for none.
  public var defaultValue: StoredValue {
    get { content.fields.defaultValue }
    set { own().fields.defaultValue = newValue }
  }
  /// The attribute's name in an older version, if it was renamed since.
  public var renamingIdentifier: String? {
    get { content.fields.renamingIdentifier }
    set { own().fields.renamingIdentifier = newValue }
  }
  /// A string that changes this attribute's fingerprint although nothing else changed.
  public var versionHashModifier: String? {
    get { content.fields.versionHashModifier }
    set { own().fields.versionHashModifier = newValue }
  }
  /// Annotations by key, with no effect on the fingerprint. Persist reads ``FullTextSearch/userInfoKey``.
  public var userInfo: [String: String] {
    get { content.fields.userInfo }
    _modify { yield &own().fields.userInfo }
  }
  /// The Swift or Objective-C class of the values, for transformable attributes and custom ones.
  public var valueClassName: String? {
    get { content.fields.valueClassName }
    set { own().fields.valueClassName = newValue }
  }
  /// The transformer that archives the values of a transformable attribute.
  public var valueTransformerName: String? {
    get { content.fields.valueTransformerName }
    set { own().fields.valueTransformerName = newValue }
  }
  /// Whether large values may be stored in files next to the store. Only binary and transformable values can be.
  public var allowsExternalStorage: Bool {
    get { content.fields.allowsExternalStorage }
    set { own().fields.allowsExternalStorage = newValue }
  }
  /// Whether a store's history keeps the value when its object is deleted: see ``HistoryChange/tombstone``.
  public var preservesValueOnDeletion: Bool {
    get { content.fields.preservesValueOnDeletion }
    set { own().fields.preservesValueOnDeletion = newValue }
  }
  /// The expression that computes a derived attribute's value, such as `articles.@count`; nil for other attributes.
  public var derivation: String? {
    get { content.fields.derivation }
    set { own().fields.derivation = newValue }
  }
  /// The name of a composite attribute's composite type.
  public var compositeName: String? {
    get { content.fields.compositeName }
    set { own().fields.compositeName = newValue }
  }
  /// The rules that values are checked against before a save; empty by default.
  public var validation: AttributeValidation {
    get { content.fields.validation }
    _modify { yield &own().fields.validation }
  }
  /// Whether a generated class uses a scalar type.
  public var usesScalarType: Bool {
    get { content.fields.usesScalarType }
    set { own().fields.usesScalarType = newValue }
  }
  /// Whether the attribute requests its own index in the old form, without a ``FetchIndexDescription``.
  public var isIndexed: Bool {
    get { content.fields.isIndexed }
    set { own().fields.isIndexed = newValue }
  }
  /// Xcode's setting for Spotlight, preserved but without effect in Persist.
  public var isIndexedBySpotlight: Bool {
    get { content.fields.isIndexedBySpotlight }
    set { own().fields.isIndexedBySpotlight = newValue }
  }
  /// Xcode's setting for encryption in iCloud, preserved but without effect in Persist.
  public var allowsCloudEncryption: Bool {
    get { content.fields.allowsCloudEncryption }
    set { own().fields.allowsCloudEncryption = newValue }
  }
  /// The attribute's entries in a model file that no property here represents, preserved unchanged.
  public var unknown: [String: String] {
    get { content.fields.unknown }
    _modify { yield &own().fields.unknown }
  }

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
    content = Content(
      Fields(
        name: name, type: type, isOptional: isOptional, isTransient: isTransient, defaultValue: defaultValue,
        renamingIdentifier: renamingIdentifier, versionHashModifier: versionHashModifier, userInfo: userInfo,
        valueClassName: valueClassName, valueTransformerName: valueTransformerName,
        allowsExternalStorage: allowsExternalStorage, preservesValueOnDeletion: preservesValueOnDeletion,
        derivation: derivation, compositeName: compositeName, validation: validation, usesScalarType: usesScalarType,
        isIndexed: isIndexed, isIndexedBySpotlight: isIndexedBySpotlight,
        allowsCloudEncryption: allowsCloudEncryption, unknown: unknown))
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
