import Foundation
import Persist

/// The values of an object that a uniqueness constraint concerns.
struct UniqueKey {
  /// A reference in a key.
  struct Reference {
    let place: Int
    let identity: Identity
    let life: UInt32
  }

  private let owner: String
  private var parts: [(name: String, content: Data)] = []
  /// The parts that are relationships.
  private(set) var references: [Reference] = []

  /// Nil if a value is missing or a condition isn't met.
  ///
  /// - Parameter registers: The object's registers by property, the latest first.
  init?(_ constraint: SyncSchema.Constraint, _ registers: [String: [Register]]) {
    owner = constraint.owner
    for (attribute, test) in constraint.conditions
    where !test.holds(for: attribute.value(of: registers[attribute.name] ?? [])) {
      return nil
    }
    for part in constraint.parts {
      if let attribute = part.attribute {
        let value = attribute.value(of: registers[part.name] ?? [])
        if value.isNull { return nil }
        parts.append((part.name, PortableValue.bytes(value)))
      } else {
        guard let register = registers[part.name]?.first, let (identity, life) = register.reference else { return nil }
        references.append(Reference(place: parts.count, identity: identity, life: life))
        parts.append((part.name, register.content))
      }
    }
  }

  init(_ bytes: Data) throws {
    var reader = ByteReader(bytes)
    owner = try reader.text()
    while !reader.isAtEnd {
      let (name, content) = (try reader.text(), try reader.counted())
      if let (identity, life) = PortableValue.reference(content) {
        references.append(Reference(place: parts.count, identity: identity, life: life))
      }
      parts.append((name, content))
    }
  }

  var bytes: Data { Self.bytes(owner, parts) }

  private static func bytes(_ owner: String, _ parts: [(name: String, content: Data)]) -> Data {
    var writer = ByteWriter()
    writer.counted(owner)
    for (name, content) in parts {
      writer.counted(name)
      writer.counted(content)
    }
    return writer.data
  }

  /// The keys that are equal to this one if objects are.
  ///
  /// - Parameter equals: The objects that a reference may lead to as well, with their lives.
  func variants(_ equals: (Reference) throws -> [(Identity, UInt32)]) rethrows -> [Data] {
    var all = [parts]
    for reference in references {
      let others = try equals(reference)
      all = all.flatMap { parts in
        others.map { identity, life in
          var parts = parts
          parts[reference.place].content = PortableValue.bytes(referringTo: identity, life: life)
          return parts
        }
      }
    }
    return all.map { Self.bytes(owner, $0) }
  }
}

/// Sets of objects that are one.
struct IdentityClasses {
  private var parents: [Identity: Identity] = [:]
  private var sets: [Identity: [Identity]] = [:]

  private mutating func root(_ identity: Identity) -> Identity {
    var root = identity
    while let next = parents[root] { root = next }
    if root != identity { parents[identity] = root }
    return root
  }

  /// - Returns: Whether the objects were in different sets.
  @discardableResult
  mutating func join(_ one: Identity, _ other: Identity) -> Bool {
    let (first, second) = (root(one), root(other))
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
    let root = root(identity)
    return sets[root] ?? [root]
  }
}
