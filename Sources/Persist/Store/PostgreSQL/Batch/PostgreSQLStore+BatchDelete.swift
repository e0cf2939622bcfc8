import Foundation

extension PostgreSQLStore {
  /// Deletes rows and applies their delete rules, set by set.
  func delete(_ batch: BatchDelete) throws -> BatchOutcome {
    guard !map.absent.contains(batch.rows.entity.name) else { return BatchOutcome() }
    let plan = try plan(for: batch.rows)
    var (selection, _) = try statement("r0.z_pk, r0.z_ent", batch.rows)
    if batch.rows.limit == nil { selection += " FOR UPDATE" }
    let rules = model.entities.map { DeletionRules($0, in: map, fileColumns: []) }
    let entities =
      batch.rows.includesSubentities ? Array(model.hierarchy(of: batch.rows.entity)) : [batch.rows.entity]
    let isWindow = batch.rows.limit != nil || batch.rows.offset > 0
    let isRecorded = history?.isTracking == true
    let outcome = try pool.write { transaction in
      if !batch.wantsIdentifiers, !isWindow, !isRecorded, entities.allSatisfy({ rules[$0.number - 1].areNone }) {
        return BatchOutcome(
          count: try transaction.execute(
            """
            DELETE FROM \(table: plan.selection.table) \
            WHERE z_pk IN (SELECT r0.z_pk\(try clauses(batch.rows, plan)))
            """))
      }
      var pass = ServerBatchDeletePass(rules: rules, store: self, transaction: transaction)
      pass.history = historyWriter(by: batch.origin)
      try pass.find(selection)
      try pass.cascade()
      try pass.checkDenials()
      try pass.severRelationships()
      pass.deleteRows()
      try transaction.record(&pass.history)
      return pass.outcome(withIdentifiers: batch.wantsIdentifiers)
    }
    noteChange()
    return outcome
  }
}

/// The steps of one batch delete, inside a transaction: all rows to delete are determined before the first is deleted.
private struct ServerBatchDeletePass {
  let rules: [DeletionRules]
  let store: PostgreSQLStore
  let transaction: ServerTransaction
  /// Records the deletion in the history; nil if changes aren't recorded.
  var history: ServerHistoryWriter?
  /// The keys of the rows to delete, by entity.
  private var doomed: [Int: Set<Int64>] = [:]
  /// The number of requested rows, without those deleted by delete rules.
  private var asked = 0

  init(rules: [DeletionRules], store: PostgreSQLStore, transaction: ServerTransaction) {
    self.rules = rules
    self.store = store
    self.transaction = transaction
  }

  mutating func find(_ selection: ServerText) throws {
    doomed = try read(selection)
    asked = doomed.values.reduce(0) { $0 + $1.count }
  }

  /// Adds the rows reached by cascades until there are no new ones.
  mutating func cascade() throws {
    var waiting = doomed
    while let (index, keys) = waiting.popFirst() {
      for end in rules[index].ends where end.rule == .cascade {
        for (entity, found) in try read(rows(at: end, of: rules[index], keys)) {
          let new = found.subtracting(doomed[entity] ?? [])
          guard !new.isEmpty else { continue }
          doomed[entity, default: []].formUnion(new)
          waiting[entity, default: []].formUnion(new)
        }
      }
    }
  }

  /// - Throws: An error if a rule denies the deletion, or a remaining row requires a deleted one.
  func checkDenials() throws {
    for (index, keys) in doomed {
      for end in rules[index].ends where end.rule == .deny || (end.rule == .nullify && end.isNeeded) {
        let isRemaining = try read(rows(at: end, of: rules[index], keys)).contains { entity, found in
          !found.isSubset(of: doomed[entity] ?? [])
        }
        if isRemaining { throw end.denial(of: rules[index].entity) }
      }
    }
  }

  /// Removes the rows from all relationships: columns that contain their keys, and pairs in join tables.
  mutating func severRelationships() throws {
    for (index, keys) in doomed.sorted(by: { $0.key < $1.key }) {
      for end in rules[index].ends {
        switch end.place {
        case .join(let join):
          if history != nil { try noteLosses(read(rows(at: end, of: rules[index], keys)), changing: end.inverseName) }
          for column in join.isReflexive ? [join.ownColumn, join.memberColumn] : [join.ownColumn] {
            transaction.runLast(["DELETE FROM \(table: join.table) WHERE \(name: column) = ANY(\(integers: keys))"])
          }
        case .foreignKey(let key) where end.rule != .noAction:
          if history != nil { try noteLosses(read(rows(at: end, of: rules[index], keys)), changing: end.inverseName) }
          let cleared = [key.column, key.entityColumn, key.orderColumn].compactMap { $0 }
          let assignments = cleared.map { ", \(name: $0) = NULL" as ServerText }.joined(separator: "")
          transaction.runLast([
            """
            UPDATE \(table: key.table) SET z_opt = z_opt + 1\(assignments) \
            WHERE \(name: key.column) = ANY(\(integers: keys))
            """
          ])
        case .foreignKey, .own: break
        }
      }
    }
  }

  /// Records in the history that remaining rows no longer refer to deleted ones.
  private mutating func noteLosses(_ rows: [Int: Set<Int64>], changing name: String?) {
    for (index, keys) in rows {
      let slots = name.flatMap { rules[index].entity.slot(named: $0) }.map { [$0] } ?? []
      for key in keys.subtracting(doomed[index] ?? []).sorted() {
        history?.recordUpdate(of: key, index, changing: slots)
      }
    }
  }

  mutating func deleteRows() {
    for (index, keys) in doomed.sorted(by: { $0.key < $1.key }) {
      if let kept = history?.recordDeletions(of: keys.sorted(), index, store.kinds.value) { transaction.runLast(kept) }
      transaction.runLast(["DELETE FROM \(table: rules[index].table) WHERE z_pk = ANY(\(integers: keys))"])
    }
  }

  func outcome(withIdentifiers: Bool) -> BatchOutcome {
    var outcome = BatchOutcome(count: asked)
    guard withIdentifiers else { return outcome }
    for (index, keys) in doomed {
      let name = rules[index].entity.name
      for key in keys {
        outcome.changes.deletedObjectIDs.insert(
          ManagedObjectID(entityName: name, storeIdentifier: store.identifier, key: .permanent(key)))
      }
    }
    return outcome
  }

  private func rows(at end: DeletionRules.End, of owner: DeletionRules, _ keys: Set<Int64>) -> ServerText {
    let (found, condition): (ServerText, ServerText)
    switch end.place {
    case .foreignKey(let key):
      return "SELECT z_pk, z_ent FROM \(table: key.table) WHERE \(name: key.column) = ANY(\(integers: keys))"
    case .join(let join):
      found = "SELECT \(name: join.memberColumn) FROM \(table: join.table)"
      condition = "\(name: join.ownColumn) = ANY(\(integers: keys))"
    case .own(let column):
      found = "SELECT \(name: column) FROM \(table: owner.table)"
      condition = "z_pk = ANY(\(integers: keys))"
    }
    return "SELECT z_pk, z_ent FROM \(table: end.destinationTable) WHERE z_pk IN (\(found) WHERE \(condition))"
  }

  /// Keys by entity. Rows of entities unknown to the model are ignored.
  private func read(_ sql: ServerText) throws -> [Int: Set<Int64>] {
    var found: [Int: Set<Int64>] = [:]
    for (key, number) in try transaction.all(sql, { ($0.integer($1, 0), $0.integer($1, 1)) }) {
      guard let index = store.map.numbers.entityIndex(ofNumber: Int(truncatingIfNeeded: number)) else { continue }
      found[index, default: []].insert(key)
    }
    return found
  }
}
