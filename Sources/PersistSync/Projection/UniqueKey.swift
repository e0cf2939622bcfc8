import Foundation
import Persist

/// The values of an object that a uniqueness constraint concerns.
///
/// The bytes are the values, followed by each reference, so that keys that differ only in their last references share
/// their beginning.
struct UniqueKey: Hashable {
  /// A reference in a key.
  struct Reference: Hashable {
    let name: String
    let identity: Identity
    let life: UInt32

    fileprivate var bytes: Data {
      var writer = ByteWriter()
      writer.counted(name)
      writer.raw(PortableValue.bytes(referringTo: identity, life: life))
      return writer.data
    }
  }

  /// The constraint and the values.
  private let base: Data
  private(set) var references: [Reference] = []

  /// Nil if a value is missing or a condition isn't met.
  ///
  /// - Parameter registers: The object's registers by property, the latest first.
  init?(_ constraint: SyncSchema.Constraint, _ registers: [String: [Register]]) {
    for (attribute, test) in constraint.conditions
    where !test.holds(for: attribute.value(of: registers[attribute.name] ?? [])) {
      return nil
    }
    var writer = ByteWriter()
    writer.counted(constraint.owner)
    for part in constraint.parts {
      writer.counted(part.name)
      if let attribute = part.attribute {
        let value = attribute.value(of: registers[part.name] ?? [])
        if value.isNull { return nil }
        writer.counted(PortableValue.bytes(value))
      } else {
        guard let register = registers[part.name]?.first, let (identity, life) = register.reference else { return nil }
        references.append(Reference(name: part.name, identity: identity, life: life))
      }
    }
    writer.byte(UInt8(clamping: references.count))
    base = writer.data
  }

  init(_ bytes: Data) throws {
    var reader = ByteReader(bytes)
    try self.init(&reader)
    try reader.end()
  }

  /// Reads a key that others follow.
  init(_ reader: inout ByteReader) throws {
    base = try reader.counted()
    for _ in 0..<(base.last ?? 0) {
      var part = ByteReader(try reader.counted())
      let name = try part.text()
      guard let (identity, life) = PortableValue.reference(part.rest()) else {
        throw SyncFormat.error("A unique value has no reference.")
      }
      references.append(Reference(name: name, identity: identity, life: life))
    }
  }

  var bytes: Data { bytes(references) }

  /// The bytes of a key that is the same for all keys which are equal if objects are.
  ///
  /// - Parameter one: One of the objects that are the same as an object.
  func bytes(referringTo one: (Identity) -> Identity) -> Data {
    bytes(references.map { Reference(name: $0.name, identity: one($0.identity), life: 0) })
  }

  private func bytes(_ references: some Sequence<Reference>) -> Data {
    var writer = ByteWriter()
    writer.counted(base)
    for reference in references { writer.counted(reference.bytes) }
    return writer.data
  }

  /// The keys that are equal to this one if objects are.
  ///
  /// - Parameter equals: The objects that each reference may lead to, with their lives.
  func variants(_ equals: [[(identity: Identity, life: UInt32)]]) -> [Data] {
    var all: [[Reference]] = [[]]
    for (reference, others) in zip(references, equals) {
      all = all.flatMap { start in
        others.map { start + [Reference(name: reference.name, identity: $0.identity, life: $0.life)] }
      }
    }
    return all.map { bytes($0) }
  }

  /// The beginnings of the keys that are equal to this one if objects are, up to the first reference.
  ///
  /// - Parameter equals: The objects that the first reference may lead to, with their lives.
  func beginnings(_ equals: [(identity: Identity, life: UInt32)]) -> [Data] {
    guard let first = references.first else { return [bytes] }
    return equals.map { bytes([Reference(name: first.name, identity: $0.identity, life: $0.life)]) }
  }

  /// The beginning up to the first reference, which other keys may have in common.
  var beginning: Data { bytes(references.prefix(1)) }

  /// Whether a key is equal to this one if objects are.
  ///
  /// - Parameter equals: The objects that each reference may lead to, with their lives.
  func isEqual(_ other: UniqueKey, _ equals: [[Identity: UInt32]]) -> Bool {
    base == other.base && references.count == other.references.count
      && zip(other.references, zip(references, equals)).allSatisfy { theirs, own in
        theirs.name == own.0.name && own.1[theirs.identity] == theirs.life
      }
  }
}

/// Sets of objects that are one.
struct IdentityClasses {
  private var parents: [Identity: Identity] = [:]
  private var sets: [Identity: [Identity]] = [:]

  /// One of the objects that are one with an object, the same for all of these.
  mutating func root(of identity: Identity) -> Identity {
    var root = identity
    while let next = parents[root] { root = next }
    if root != identity { parents[identity] = root }
    return root
  }

  /// - Returns: Whether the objects were in different sets.
  @discardableResult
  mutating func join(_ one: Identity, _ other: Identity) -> Bool {
    let (first, second) = (root(of: one), root(of: other))
    guard first != second else { return false }
    let (small, large) = (sets[first] ?? [first], sets[second] ?? [second])
    let (child, parent) = small.count < large.count ? (first, second) : (second, first)
    parents[child] = parent
    sets[parent] = small + large
    sets[child] = nil
    return true
  }

  /// The objects that are one with an object, including itself.
  mutating func members(with identity: Identity) -> [Identity] {
    let root = root(of: identity)
    return sets[root] ?? [root]
  }
}
