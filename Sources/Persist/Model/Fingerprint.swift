public import Foundation

/// A digest of everything that affects an entity's storage: two entities are stored in the same form if their 32 bytes
/// are equal.
///
/// A fingerprint covers an entity's name, its parent's fingerprint, whether it is abstract, its uniqueness constraints,
/// and the following of its own stored properties, in name order:
///
/// - for an attribute the name, type, and whether it is optional, allows external storage or is preserved in the
///   history on deletion; a derived one's expression; a composite one's elements; whether a server contains its dates
///   as moments with a time zone;
/// - for a relationship the name, destination, inverse, and whether it is optional, to-many and ordered;
/// - hash modifiers of the entity and of each property.
///
/// It omits everything that doesn't affect a store: defaults, validation, counts, delete rules, user info, class and
/// transformer names, indexes, renaming identifiers, configurations, transient and fetched properties.
///
/// Fingerprints are the same on every platform, in every run and in every version of Persist, because stores contain
/// them. They are unrelated to Core Data's own hashes, whose algorithm isn't known.
public struct Fingerprint: Sendable, Hashable {
  /// The SHA-256 of the entity's canonical text.
  public let bytes: Data
  /// The same as numbers, for comparisons and digests that don't touch the data's buffer.
  package let words: Words

  package struct Words: Sendable, Hashable {
    package let first, second, third, fourth: UInt64

    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
      func word(_ index: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8 * index, as: UInt64.self))
      }
      (first, second, third, fourth) = (word(0), word(1), word(2), word(3))
    }
  }

  /// - Returns: nil unless there are exactly 32 bytes.
  public init?(bytes: Data) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
    words = bytes.withUnsafeBytes { Words($0) }
  }

  init(canonicalText: String) { self.init(digesting: canonicalText.utf8) }

  package init(digesting message: some Sequence<UInt8>) {
    let digest = SHA256.digest(message)
    bytes = Data(digest)
    words = digest.withUnsafeBytes { Words($0) }
  }

  public static func == (left: Fingerprint, right: Fingerprint) -> Bool { left.words == right.words }

  /// Describes how a store's hashes or fingerprints differ from a model's, entity by entity in name order.
  ///
  /// - Returns: sentences such as `'Item' differs.`; none if the tables are equal.
  package static func differences(stored: [String: Data], model: [String: Data]) -> [String] {
    Set(stored.keys).union(model.keys).sorted().compactMap { name in
      switch (stored[name], model[name]) {
      case (let left?, let right?): left == right ? nil : "'\(name)' differs."
      case (_?, nil): "The store has '\(name)'; the model doesn't."
      case (nil, _): "The model has '\(name)'; the store doesn't."
      }
    }
  }
}

extension Fingerprint: CustomStringConvertible {
  /// 64 hexadecimal digits.
  public var description: String {
    bytes.hexadecimalDigits
  }
}

extension ManagedObjectModel {
  /// The fingerprint of each entity by name.
  @inline(never)
  public var fingerprints: [String: Fingerprint] { entitiesByName.mapValues(\.fingerprint) }

  /// The digest of all entities' fingerprints: two models are stored in the same form if theirs are equal.
  package var fingerprint: Fingerprint {
    Fingerprint(digesting: entitiesByName.sorted(on: \.key).flatMap { $0.value.fingerprint.bytes })
  }
}

/// The text from which an entity's fingerprint is computed: one line per item, with strings quoted as in JSON.
struct CanonicalText {
  private(set) var text = "entity 1\n"

  init(
    _ entity: EntityDescription, parent: Fingerprint?, composites: [String: CompositeDescription]
  ) {
    line("name", [Self.quoted(entity.name)])
    if let parent { line("parent", [parent.description]) }
    if entity.isAbstract { line("abstract", []) }
    if let modifier = entity.versionHashModifier { line("modifier", [Self.quoted(modifier)]) }
    let constraints = Set(entity.uniquenessConstraints.map { names in
      let conditions = Set(entity.uniquenessConditions[names] ?? []).map { Self.quoted($0.description) }.sorted()
      return names.sorted().map(Self.quoted) + (conditions.isEmpty ? [] : ["where"] + conditions)
    })
    for names in constraints.ordered(by: { $0.lexicographicallyPrecedes($1) }) { line("unique", names) }
    for attribute in entity.attributes.sorted(on: \.name) {
      add(attribute, below: [], composites: composites)
    }
    for relationship in entity.relationships.sorted(on: \.name) { add(relationship) }
  }

  private mutating func line(_ word: String, _ rest: [String]) {
    text += ([word] + rest).joined(separator: " ") + "\n"
  }

  private mutating func add(
    _ attribute: AttributeDescription, below path: [String], composites: [String: CompositeDescription]
  ) {
    guard !attribute.isTransient || attribute.versionHashModifier != nil else { return }
    let path = path + [attribute.name]
    var words = path.map(Self.quoted) + [attribute.type.rawValue]
    if attribute.isTransient { words.append("transient") }
    if attribute.isOptional { words.append("optional") }
    if attribute.allowsExternalStorage { words.append("external") }
    if attribute.preservesValueOnDeletion { words.append("preserved") }
    if attribute.roundsDates { words.append("timestamptz") }
    if let derivation = attribute.derivation { words += ["derived", Self.quoted(derivation.formatNormalForm)] }
    if let modifier = attribute.versionHashModifier { words += ["modifier", Self.quoted(modifier)] }
    line("attribute", words)
    // The depth is limited in checked models; this limit only guarantees termination.
    guard attribute.type == .composite, path.count < 16, let name = attribute.compositeName,
      let composite = composites[name]
    else { return }
    for element in composite.elements.sorted(on: \.name) {
      add(element, below: path, composites: composites)
    }
  }

  private mutating func add(_ relationship: RelationshipDescription) {
    guard !relationship.isTransient || relationship.versionHashModifier != nil else { return }
    var words = [relationship.name, relationship.destination].map(Self.quoted)
    if relationship.isTransient { words.append("transient") }
    if let inverse = relationship.inverse { words += ["inverse", Self.quoted(inverse)] }
    if relationship.isToMany { words.append("many") }
    if relationship.isToMany && relationship.isOrdered { words.append("ordered") }
    if relationship.isOptional { words.append("optional") }
    if let modifier = relationship.versionHashModifier { words += ["modifier", Self.quoted(modifier)] }
    line("relationship", words)
  }

  /// Quotes and escapes a string. The format is fixed here: no library's choice may change a fingerprint.
  @inline(never)
  private static func quoted(_ text: String) -> String {
    // Names of entities and properties have none of these characters.
    guard text.utf8.contains(where: { $0 < 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) else {
      return "\"\(text)\""
    }
    let escaped = text.unicodeScalars.map { scalar in
      switch scalar {
      case "\"": "\\\""
      case "\\": "\\\\"
      case "\n": "\\n"
      case "\r": "\\r"
      case "\t": "\\t"
      default: String(scalar)
      }
    }
    return "\"" + escaped.joined() + "\""
  }
}

extension Data {
  /// Whether two values have the same bytes. `==` compiles 1 to 4 KB into each place that compares data.
  @inline(never)
  package func hasSameBytes(as other: Data?) -> Bool { self == other }
}

/// Hashes or fingerprints by the names of their entities.
extension [String: Data] {
  package func hasSameBytes(as other: [String: Data]?) -> Bool {
    guard let other else { return false }
    return count == other.count && contains(other)
  }

  /// Whether the names of another table have the same hashes here.
  package func contains(_ other: [String: Data]) -> Bool {
    other.allSatisfy { name, hash in hash.hasSameBytes(as: self[name]) }
  }
}
