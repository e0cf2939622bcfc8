/// The rows that a batch delete removes: the requested ones, and those that delete rules reach. All of them are
/// determined before the first one is deleted.
package struct DoomedRows {
  /// Keys, by the index of their entity in ``ManagedObjectModel/entities``.
  package typealias Keys = [Int: Set<Int64>]

  private let rules: [DeletionRules]
  private let numbers: EntityNumbers
  private let runner: any StatementRunner
  private var keys: Keys
  /// The number of requested rows.
  private let count: Int

  /// Adds the rows reached by cascades until there are no new ones.
  ///
  /// - Parameters:
  ///   - requested: The requested rows.
  ///   - rules: By index in ``ManagedObjectModel/entities``.
  ///   - numbers: The entity numbers of the store.
  ///   - runner: The transaction of the deletion.
  /// - Throws: An error if a rule denies the deletion, or if a remaining row requires a deleted one.
  package init(
    _ requested: Keys, rules: [DeletionRules], numbers: EntityNumbers, in runner: any StatementRunner
  ) throws {
    self.rules = rules
    self.numbers = numbers
    self.runner = runner
    keys = requested
    count = requested.values.reduce(0) { $0 + $1.count }
    try cascade()
    try checkDenials()
  }

  private mutating func cascade() throws {
    var waiting = keys
    while let (index, owners) = waiting.popFirst() {
      for end in rules[index].ends where end.rule == .cascade {
        for (entity, found) in try rows(at: end, of: rules[index], owners) {
          // Set.subtracting(_:) iterates over all known keys, for each link of a chain.
          let new = keys[entity].map { known in found.filter { !known.contains($0) } } ?? found
          guard !new.isEmpty else { continue }
          keys[entity, default: []].formUnion(new)
          waiting[entity, default: []].formUnion(new)
        }
      }
    }
  }

  private func checkDenials() throws {
    for (index, owners) in keys {
      for end in rules[index].ends where end.rule == .deny || (end.rule == .nullify && end.isNeeded) {
        let isRemaining = try rows(at: end, of: rules[index], owners).contains { entity, found in
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

  /// Reads the keys of the rows at one end of a relationship of deleted rows.
  private func rows(at end: DeletionRules.End, of owner: DeletionRules, _ owners: Set<Int64>) throws -> Keys {
    var found: Keys = Dictionary()
    try runner.forEachRow(of: owner.rows(at: end, ofRowsWith: owners)) { row in
      found.add(row.integer(0), entityNumber: row.integer(1), numbers)
    }
    return found
  }

  /// The remaining rows at the other end of a relationship, and the slots in which they lose something.
  package func losses(
    at end: DeletionRules.End, of owner: DeletionRules, _ owners: Set<Int64>
  ) throws -> [(entity: Int, key: Int64, slots: [Int])] {
    try rows(at: end, of: owner, owners).flatMap { index, found in
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
