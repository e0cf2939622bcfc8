import Foundation
import Persist

/// Which objects are one, because they have equal values that must be unique, or because somebody changed them as one.
///
/// Objects that somebody changed while they were one stay one: their facts say so. The others are one as long as their
/// values are equal.
struct Uniqueness {
  let step: SyncStep

  private var tables: SyncTables { step.tables }

  private let hasConstraints: Bool

  init(_ step: SyncStep) { (self.step, hasConstraints) = (step, step.schema.hasConstraints) }

  /// Several objects that are one row.
  struct Group {
    /// In the order of their identities.
    var members: [Identity]
    /// The one whose unique values were set last: the row has its entity and its unique values.
    var winner: Identity
    var entity: Entity
  }

  /// The objects that are one for good, whether or not they exist.
  private func union(of identity: Identity) throws -> Set<Identity> {
    var all: Set<Identity> = [identity]
    var queue = [identity]
    while let next = queue.popLast() {
      for other in try tables.facts(of: next).unions where all.insert(other).inserted { queue.append(other) }
    }
    return all
  }

  /// The object that has the row of several ones, with its entity: the one whose unique values were set last.
  func winner(of identities: some Sequence<Identity>) throws -> (identity: Identity, entity: Entity)? {
    var best: (identity: Identity, entity: Entity, register: Register?)?
    for identity in identities.sorted() {
      let object = try tables.facts(of: identity)
      guard let entity = try step.entity(of: object) else { continue }
      let constrained = step.schema[entity].constrained
      var last: Register?
      if !constrained.isEmpty {
        for (name, registers) in try step.registers(of: object, in: entity) where constrained.contains(name) {
          if let register = registers.first, last.map({ Register.isLater(register, than: $0) }) ?? true {
            last = register
          }
        }
      }
      guard let known = best else {
        best = (identity, entity, last)
        continue
      }
      if let last, known.register.map({ Register.isLater(last, than: $0) }) ?? true { best = (identity, entity, last) }
    }
    return best.map { ($0.identity, $0.entity) }
  }

  private func keys(of identity: Identity, _ entity: Entity) throws -> [Data] {
    let part = step.schema[entity]
    guard !part.constraints.isEmpty else { return [] }
    let registers = try step.registers(of: tables.facts(of: identity), in: entity)
    return part.constraints.compactMap { UniqueKey($0, registers)?.bytes }
  }

  /// Records the unique values of changed objects.
  ///
  /// - Returns: The objects that have or had the same values.
  @discardableResult
  func update(_ identities: some Sequence<Identity>) throws -> Set<Identity> {
    var affected: Set<Identity> = []
    var done: Set<Identity> = []
    var changes: [(identity: Identity, keys: [Data])] = []
    for identity in identities where !done.contains(identity) {
      if try !hasConstraints && tables.facts(of: identity).unions.isEmpty { continue }
      let union = try self.union(of: identity)
      done.formUnion(union)
      if union.count > 1 { affected.formUnion(union) }
      guard hasConstraints else { continue }
      let winner = try self.winner(of: union)
      for member in union {
        let keys = try winner?.identity == member ? winner.map { try self.keys(of: member, $0.entity) } ?? [] : []
        if try !tables.uniqueKeys(of: member).isEmpty || !keys.isEmpty { changes.append((member, keys)) }
      }
    }
    try tables.loadHolders(of: changes.flatMap { try tables.uniqueKeys(of: $0.identity) + $0.keys })
    for (identity, keys) in changes {
      for key in try tables.uniqueKeys(of: identity) { affected.formUnion(try tables.holders(of: key)) }
      try tables.setUniqueKeys(of: identity, to: keys)
      for key in keys { affected.formUnion(try tables.holders(of: key)) }
    }
    return affected
  }

  /// Whether an object is one with no other one, as far as this is known without a search.
  private func isSingle(_ identity: Identity) throws -> Bool {
    guard try tables.facts(of: identity).unions.isEmpty else { return false }
    return try !hasConstraints || tables.uniqueKeys(of: identity).isEmpty
  }

  /// The objects that are one with an object, whether or not they exist.
  ///
  /// References in unique values are equal if their objects are one, which may follow from unique values as well. The
  /// result is the least set with this property, so that it doesn't depend on where the search begins.
  private func objects(with identity: Identity) throws -> Set<Identity> {
    guard hasConstraints else { return try union(of: identity) }
    var classes = IdentityClasses()
    var explored: Set<Identity> = []
    var queue = [identity]
    var referring: [(identity: Identity, key: UniqueKey)] = []
    var isChanged = true
    while isChanged {
      while let next = queue.popLast() {
        guard explored.insert(next).inserted else { continue }
        for other in try tables.facts(of: next).unions {
          classes.join(next, other)
          queue.append(other)
        }
        for bytes in try tables.uniqueKeys(of: next) {
          let key = try UniqueKey(bytes)
          if key.references.isEmpty {
            for holder in try tables.holders(of: bytes) {
              classes.join(next, holder)
              queue.append(holder)
            }
          } else {
            referring.append((next, key))
            queue += key.references.map(\.identity)
          }
        }
      }
      isChanged = false
      // Equal keys have the same holders, which are looked up once.
      var known: [Data: Identity] = [:]
      for (next, key) in referring where try key.references.allSatisfy({ try isPresent($0.identity, $0.life) }) {
        let common = key.bytes { classes.root(of: $0) }
        if let other = known.updateValue(next, forKey: common) {
          if classes.join(next, other) { isChanged = true }
          continue
        }
        let equals = try key.references.map { reference in
          try classes.members(with: reference.identity).compactMap { other in
            let count = try tables.facts(of: other).count
            return try isPresent(other, count) ? (identity: other, life: count) : nil
          }
        }
        for holder in try holders(of: key, equals) where classes.join(next, holder) {
          queue.append(holder)
          isChanged = true
        }
      }
    }
    return Set(classes.members(with: identity))
  }

  /// The number of keys that are looked up one by one. Their number is the product of the numbers of objects that are
  /// one, so that more of them are found among the existing ones instead.
  static let maximumVariants = 64

  /// The objects whose unique values are equal to others if objects are.
  ///
  /// - Parameter equals: The objects that each reference of the key may lead to, with their lives.
  private func holders(
    of key: UniqueKey, _ equals: [[(identity: Identity, life: UInt32)]]
  ) throws -> Set<Identity> {
    var count = 1
    for others in equals where count <= Self.maximumVariants { count *= others.count }
    if count <= Self.maximumVariants {
      return try key.variants(equals).reduce(into: []) { $0.formUnion(try tables.holders(of: $1)) }
    }
    let lives = equals.map { Dictionary($0.map { ($0.identity, $0.life) }, uniquingKeysWith: { first, _ in first }) }
    var found: Set<Identity> = []
    for beginning in key.beginnings(equals.first ?? []) {
      for bytes in try tables.uniqueKeys(withBeginning: beginning) where try key.isEqual(UniqueKey(bytes), lives) {
        found.formUnion(try tables.holders(of: bytes))
      }
    }
    return found
  }

  private func isPresent(_ identity: Identity, _ life: UInt32) throws -> Bool {
    let object = try tables.facts(of: identity)
    return try object.count == life && step.entity(of: object) != nil
  }

  /// The objects that are one with an object; nil if none of them has a place in the model.
  func group(of identity: Identity) throws -> Group? {
    if try isSingle(identity) {
      return try step.entity(of: tables.facts(of: identity)).map {
        Group(members: [identity], winner: identity, entity: $0)
      }
    }
    let all = try objects(with: identity)
    let members = try all.filter { try step.entity(of: tables.facts(of: $0)) != nil }.sorted()
    guard let (winner, entity) = try self.winner(of: members) else { return nil }
    return Group(members: members, winner: winner, entity: entity)
  }
}

extension SyncSchema.Attribute {
  /// The value of the latest register that has one of the attribute's type; the default if there is none.
  func value(of registers: [Register]) -> StoredValue {
    for register in registers {
      if let content = try? PortableValue.content(register.content), let value = self.value(of: content) {
        return value
      }
    }
    return defaultValue
  }

  /// The value of a content; nil if the attribute can't have it.
  func value(of content: PortableValue.Content) -> StoredValue? {
    guard case .value(let value) = content, let own = value.converted(to: type),
      holdsNullCharacters || !own.hasNullCharacter
    else { return nil }
    return own
  }
}
