public import Foundation

/// What tells whether two entities are stored alike: 32 bytes that are equal exactly where everything is that
/// affects storage.
///
/// A fingerprint covers an entity's name, its parent's fingerprint, whether it is abstract, its uniqueness
/// constraints, and of its own stored properties, in name order:
///
/// - of an attribute the name, type, and whether it is optional, may stand in external files or is kept in the history
///   on deletion; a derived one's expression; a composite one's elements;
/// - of a relationship the name, destination, inverse, and whether it is optional, to-many and ordered;
/// - hash modifiers, of the entity and of each property.
///
/// It leaves out what changes nothing in a store: defaults, validation, counts, delete rules, user info, class and
/// transformer names, indexes, renaming identifiers, configurations, transient and fetched properties.
///
/// Fingerprints are the same on every platform and in every run, and stay so from version to version of Persist:
/// stores keep them. They have nothing to do with Core Data's own hashes, whose rule isn't known.
public struct Fingerprint: Sendable, Hashable {
  /// The SHA-256 of the entity's canonical text.
  public let bytes: Data

  /// - Returns: nil unless there are 32 bytes.
  public init?(bytes: Data) {
    guard bytes.count == 32 else { return nil }
    self.bytes = bytes
  }

  init(canonicalText: String) { self.init(digesting: canonicalText.utf8) }

  init(digesting message: some Sequence<UInt8>) { bytes = Data(SHA256.digest(message)) }

  /// How a store's hashes or fingerprints differ from a model's, entity by entity in name order.
  ///
  /// - Returns: sentences such as `'Item' differs.`; none where the tables are equal.
  public static func differences<Value: Equatable>(
    stored: [String: Value], model: [String: Value]
  ) -> [String] {
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
    bytes.map { byte in
      let digits = String(byte, radix: 16)
      return digits.count == 1 ? "0" + digits : digits
    }.joined()
  }
}

extension ManagedObjectModel {
  /// The fingerprint of each entity by name.
  public var fingerprints: [String: Fingerprint] { entitiesByName.mapValues(\.fingerprint) }

  /// What tells whether two models are stored alike, in one: the digest of all entities' fingerprints.
  var fingerprint: Fingerprint {
    Fingerprint(digesting: entitiesByName.sorted { $0.key < $1.key }.flatMap { $0.value.fingerprint.bytes })
  }
}

/// The text that an entity's fingerprint is the digest of: one line for each thing, texts quoted as in JSON.
struct CanonicalText {
  private(set) var text = "entity 1\n"

  init(
    _ entity: EntityDescription, parent: Fingerprint?, composites: [String: CompositeDescription]
  ) {
    line("name", [Self.quoted(entity.name)])
    if let parent { line("parent", [parent.description]) }
    if entity.isAbstract { line("abstract", []) }
    if let modifier = entity.versionHashModifier { line("modifier", [Self.quoted(modifier)]) }
    let constraints = Set(entity.uniquenessConstraints.map { $0.sorted().map(Self.quoted) })
    for names in constraints.sorted(by: { $0.lexicographicallyPrecedes($1) }) { line("unique", names) }
    for attribute in entity.attributes.sorted(by: { $0.name < $1.name }) {
      add(attribute, below: [], composites: composites)
    }
    for relationship in entity.relationships.sorted(by: { $0.name < $1.name }) { add(relationship) }
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
    if let derivation = attribute.derivation { words += ["derived", Self.quoted(derivation.formatNormalForm)] }
    if let modifier = attribute.versionHashModifier { words += ["modifier", Self.quoted(modifier)] }
    line("attribute", words)
    // The depth is bounded in checked models; the bound keeps a wrong one finite all the same.
    guard attribute.type == .composite, path.count < 16, let name = attribute.compositeName,
      let composite = composites[name]
    else { return }
    for element in composite.elements.sorted(by: { $0.name < $1.name }) {
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

  /// The text in quotes, escaped as it always was: no library's choice may change a fingerprint.
  private static func quoted(_ text: String) -> String {
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
