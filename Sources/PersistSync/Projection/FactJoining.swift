import Foundation
import Persist

/// Adds facts of other replicas to those of the store, and finds the objects whose rows may change.
struct FactJoining {
  private let step: SyncStep
  private var changed: Set<Identity> = []
  private var related: Set<Identity> = []
  private var isEverythingAffected = false
  /// Objects of which more than attributes have changed.
  private var relinked: Set<Identity> = []
  private let attributes: Set<String>
  /// The latest time of a change that isn't too far in the future.
  private(set) var latest: UInt64 = 0
  private let limit: UInt64
  /// The replicas that made the changes.
  var replicas: Set<UUID> = []

  private var tables: SyncTables { step.tables }

  /// - Parameter limit: The latest time that raises the replica's.
  init(_ step: SyncStep, upTo limit: UInt64) {
    (self.step, self.limit) = (step, limit)
    let entities = step.model.entities
    let relationships = Set(entities.flatMap { step.schema[$0].relationships.map(\.name) })
    attributes = Set(entities.flatMap { step.schema[$0].attributes.map(\.name) }).subtracting(relationships)
  }

  /// The replicas that made the changes, for the history: `from 6F1C…, 2AB9…`; nil for none.
  var origins: String? { Self.origins(replicas) }

  /// The replicas that made changes, for the history.
  static func origins(_ replicas: Set<UUID>) -> String? {
    let names = replicas.subtracting([Stamp.origin]).map(\.uuidString).sorted()
    guard !names.isEmpty else { return nil }
    let others = names.count > shownOrigins ? " and \(names.count - shownOrigins) others" : ""
    return "from \(names.prefix(shownOrigins).joined(separator: ", "))\(others)"
  }

  private static let shownOrigins = 4

  /// Adds an object whose row has to be computed again.
  mutating func add(_ identity: Identity) {
    changed.insert(identity)
    relinked.insert(identity)
  }

  mutating func join(_ fact: ChangeSet.Fact) throws {
    guard let identity = fact.key.object else {
      return fact.key.isOrdinary ? try joinModel(fact) : ()
    }
    switch fact.key {
    // The row may still be that of the former owner.
    case .owner: related.formUnion(try step.allOwners(of: identity))
    // The members that another life removes.
    case .life:
      related.formUnion(try step.allOwners(of: identity))
      related.formUnion(try tables.facts(of: identity).members.values.flatMap(\.keys))
    default: break
    }
    if try tables.join(fact.key, fact.value) {
      if fact.key.isRegister { replicas.insert(try Register(fact.value).stamp.replica) }
      try add(fact.key, fact.value, of: identity)
    }
  }

  /// Adds a fact that the store already has.
  mutating func add(_ key: FactKey, _ value: Data) throws {
    if let identity = key.object { try add(key, value, of: identity) }
  }

  private mutating func add(_ key: FactKey, _ value: Data, of identity: Identity) throws {
    changed.insert(identity)
    switch key {
    case .value(_, let property), .part(_, let property, _):
      guard property.model == step.map.tag, attributes.contains(property.name) else { break }
      note(try Register(value).stamp)
      return
    default: break
    }
    relinked.insert(identity)
    switch key {
    case .life:
      related.formUnion(try step.referrers(to: identity))
      related.formUnion(try step.allOwners(of: identity))
    case .value, .part: note(try Register(value).stamp)
    case .owner:
      note(try Register(value).stamp)
      related.formUnion(try step.allOwners(of: identity))
    case .member(_, _, let member):
      note(try Register(value).stamp)
      related.insert(member)
    case .place: note(try Register(value).stamp)
    case .union(_, let other): related.insert(other)
    case .model, .cover, .pass: break
    }
  }

  /// Removes everything that is known about an object. Nobody else learns of it.
  mutating func forget(_ identity: Identity) throws {
    let object = try tables.facts(of: identity)
    related.formUnion(try step.referrers(to: identity))
    related.formUnion(object.members.values.flatMap(\.keys))
    related.formUnion(try step.allOwners(of: identity))
    related.formUnion(object.unions)
    changed.insert(identity)
    relinked.insert(identity)
    try tables.forget(identity)
  }

  private mutating func note(_ stamp: Stamp) {
    if stamp.time <= limit { latest = max(latest, stamp.time) }
  }

  private mutating func joinModel(_ fact: ChangeSet.Fact) throws {
    // Facts may have waited for the model, or for one that leads to theirs.
    if try tables.join(fact.key, fact.value) { isEverythingAffected = true }
  }

  /// The objects whose rows may change, after all facts were added; and those among them of which only attributes do.
  mutating func affected() throws -> (all: Set<Identity>, attributesOnly: Set<Identity>) {
    var all = changed.union(related)
    if try isEverythingAffected || tables.needsProjection {
      tables.setNeedsProjection(false)
      isEverythingAffected = true
      all.formUnion(try tables.allObjects())
    }
    let others = try Uniqueness(step).update(all)
    let only = isEverythingAffected ? [] : changed.subtracting(relinked).subtracting(related).subtracting(others)
    return (all.union(others), only)
  }
}
