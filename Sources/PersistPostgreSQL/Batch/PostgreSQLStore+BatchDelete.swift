import Foundation
import Persist

extension PostgreSQLStore {
  /// Deletes rows and applies their delete rules, set by set.
  func delete(_ batch: BatchDelete) throws -> BatchOutcome {
    guard !map.absent.contains(batch.rows.entity.name) else { return BatchOutcome() }
    let plan = try plan(for: batch.rows)
    let isWindow = batch.rows.limit != nil || batch.rows.offset > 0
    let selection: ServerText =
      try isWindow
      ? statement("r0.id, r0.entity", batch.rows).sql + RowLock.deletion.text
      : "SELECT r0.id, r0.entity\(try clauses(batch.rows, plan)) ORDER BY r0.id\(RowLock.deletion.text)"
    let rules = model.entities.map { DeletionRules($0, in: map, fileColumns: []) }
    let entities =
      batch.rows.includesSubentities ? Array(model.hierarchy(of: batch.rows.entity)) : [batch.rows.entity]
    let isPlain = !batch.wantsIdentifiers && !isWindow && entities.allSatisfy { rules[$0.number - 1].areNone }
    let outcome = try pool.write { transaction in
      // Looked up by each attempt: it is repeated if another program has switched the history on.
      if isPlain, history?.isTracking != true {
        return BatchOutcome(
          count: try transaction.execute(
            """
            DELETE FROM \(table: plan.selection.table) \
            WHERE id IN (SELECT r0.id\(try clauses(batch.rows, plan, locking: .deletion)))
            """))
      }
      var pass = try ServerBatchDeletePass(selection, rules, store: self, transaction)
      pass.history = try historyWriter(by: batch.origin, transaction)
      try pass.severRelationships()
      pass.deleteRows()
      try transaction.record(&pass.history)
      return pass.doomed.outcome(inStore: identifier, withIdentifiers: batch.wantsIdentifiers)
    }
    recordChange()
    return outcome
  }
}

/// The steps of one batch delete, inside a transaction.
private struct ServerBatchDeletePass {
  let doomed: DoomedRows
  private let store: PostgreSQLStore
  private let transaction: ServerTransaction
  /// Records the deletion in the history; nil if changes aren't recorded.
  var history: ServerHistoryWriter?

  init(
    _ requested: ServerText, _ rules: [DeletionRules], store: PostgreSQLStore, _ transaction: ServerTransaction
  ) throws {
    self.store = store
    self.transaction = transaction
    doomed = try DoomedRows(try transaction.keys(requested, store.map.numbers), rules) { end, owner, keys in
      try transaction.keys(.rows(at: end, of: owner, keys), store.map.numbers)
    }
  }

  /// Removes the rows from all relationships: columns that contain their keys, and pairs in join tables.
  mutating func severRelationships() throws {
    for (_, rules, keys) in doomed.inOrder {
      for end in rules.ends {
        switch end.place {
        case .join(let join):
          try recordLosses(at: end, of: rules, keys)
          for column in join.isReflexive ? [join.ownColumn, join.memberColumn] : [join.ownColumn] {
            transaction.runLast(["DELETE FROM \(table: join.table) WHERE \(name: column) = ANY(\(integers: keys))"])
          }
        case .foreignKey(let key) where end.rule != .noAction:
          try recordLosses(at: end, of: rules, keys)
          let cleared = [key.column, key.entityColumn, key.orderColumn].compactMap { $0 }
          let assignments = cleared.map { ", \(name: $0) = NULL" as ServerText }.joined(separator: "")
          transaction.runLast([
            """
            UPDATE \(table: key.table) SET version = version + 1\(assignments) \
            WHERE \(name: key.column) = ANY(\(integers: keys))
            """
          ])
        case .foreignKey, .own: break
        }
      }
    }
  }

  /// Records in the history that remaining rows no longer refer to deleted ones.
  private mutating func recordLosses(at end: DeletionRules.End, of owner: DeletionRules, _ keys: Set<Int64>) throws {
    guard history != nil else { return }
    for loss in doomed.losses(try transaction.keys(.rows(at: end, of: owner, keys), store.map.numbers), at: end) {
      history?.recordUpdate(of: loss.key, loss.entity, changing: loss.slots)
    }
  }

  mutating func deleteRows() {
    for (index, rules, keys) in doomed.inOrder {
      if let kept = history?.recordDeletions(of: keys.sorted(), index, store.kinds.value) { transaction.runLast(kept) }
      transaction.runLast(["DELETE FROM \(table: rules.table) WHERE id = ANY(\(integers: keys))"])
    }
  }
}

extension ServerText {
  /// Keys and entity numbers of the rows at one end of a relationship of deleted rows.
  fileprivate static func rows(at end: DeletionRules.End, of owner: DeletionRules, _ keys: Set<Int64>) -> ServerText {
    let (found, condition): (ServerText, ServerText)
    switch end.place {
    case .foreignKey(let key):
      return "SELECT id, entity FROM \(table: key.table) WHERE \(name: key.column) = ANY(\(integers: keys))"
    case .join(let join):
      found = "SELECT \(name: join.memberColumn) FROM \(table: join.table)"
      condition = "\(name: join.ownColumn) = ANY(\(integers: keys))"
    case .own(let column):
      found = "SELECT \(name: column) FROM \(table: owner.table)"
      condition = "id = ANY(\(integers: keys))"
    }
    return "SELECT id, entity FROM \(table: end.destinationTable) WHERE id IN (\(found) WHERE \(condition))"
  }
}

extension ServerTransaction {
  /// Reads keys by entity. Rows of entities unknown to the model are ignored.
  fileprivate func keys(_ sql: ServerText, _ numbers: EntityNumbers) throws -> DoomedRows.Keys {
    var found: DoomedRows.Keys = [:]
    for (key, number) in try all(sql, { ($0.integer($1, 0), $0.integer($1, 1)) }) {
      guard let index = numbers.entityIndex(ofNumber: Int(truncatingIfNeeded: number)) else { continue }
      found[index, default: []].insert(key)
    }
    return found
  }
}
