/// The rows that a batch delete removes: the requested ones, and those that delete rules reach. All of them are
/// determined before the first one is deleted.
package struct DoomedRows {
  /// Keys, by the index of their entity in ``ManagedObjectModel/entities``.
  package typealias Keys = [Int: Set<Int64>]
  /// Reads the keys of the rows at one end of a relationship of deleted rows.
  package typealias Reader = (_ end: DeletionRules.End, _ owner: DeletionRules, _ keys: Set<Int64>) throws -> Keys

  let rules: [DeletionRules]
  private(set) var keys: Keys
  /// The number of requested rows.
  private let count: Int

  /// Adds the rows reached by cascades until there are no new ones.
  ///
  /// - Parameter rules: By index in ``ManagedObjectModel/entities``.
  /// - Throws: An error if a rule denies the deletion, or if a remaining row requires a deleted one.
  package init(_ requested: Keys, _ rules: [DeletionRules], reading rows: Reader) throws {
    self.rules = rules
    keys = requested
    count = requested.values.reduce(0) { $0 + $1.count }
    try cascade(reading: rows)
    try checkDenials(reading: rows)
  }

  private mutating func cascade(reading rows: Reader) throws {
    var waiting = keys
    while let (index, owners) = waiting.popFirst() {
      for end in rules[index].ends where end.rule == .cascade {
        for (entity, found) in try rows(end, rules[index], owners) {
          // Set.subtracting(_:) iterates over all known keys, for each link of a chain.
          let new = keys[entity].map { known in found.filter { !known.contains($0) } } ?? found
          guard !new.isEmpty else { continue }
          keys[entity, default: []].formUnion(new)
          waiting[entity, default: []].formUnion(new)
        }
      }
    }
  }

  private func checkDenials(reading rows: Reader) throws {
    for (index, owners) in keys {
      for end in rules[index].ends where end.rule == .deny || (end.rule == .nullify && end.isNeeded) {
        let isRemaining = try rows(end, rules[index], owners).contains { entity, found in
          !found.isSubset(of: keys[entity] ?? [])
        }
        if isRemaining { throw end.denial(of: rules[index].entity) }
      }
    }
  }

  /// The rules and keys of the rows to delete, in an order that every program has in common.
  package var inOrder: [(index: Int, rules: DeletionRules, keys: Set<Int64>)] {
    keys.sorted(on: \.key).map { ($0.key, rules[$0.key], $0.value) }
  }

  /// The remaining ones of the rows at the other end of a relationship, and the slots in which they lose something.
  package func losses(_ rows: Keys, at end: DeletionRules.End) -> [(entity: Int, key: Int64, slots: [Int])] {
    rows.flatMap { index, found in
      let slots = end.inverseName.flatMap { rules[index].entity.slot(named: $0) }.map { [$0] } ?? []
      return found.subtracting(keys[index] ?? []).sorted().map { (index, $0, slots) }
    }
  }

  package func outcome(inStore identifier: String, withIdentifiers: Bool) -> BatchOutcome {
    var outcome = BatchOutcome(count: count)
    guard withIdentifiers else { return outcome }
    for (index, deleted) in keys {
      let name = rules[index].entity.name
      for key in deleted {
        outcome.changes.deletedObjectIDs.insert(
          ManagedObjectID(entityName: name, storeIdentifier: identifier, key: .permanent(key)))
      }
    }
    return outcome
  }
}
