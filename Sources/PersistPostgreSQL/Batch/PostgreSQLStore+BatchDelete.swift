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
    let isPlain = !batch.wantsIdentifiers && !isWindow && entities.allSatisfy { rules[$0.index].areNone }
    let outcome = try pool.write { transaction in
      // Each attempt looks this up: the transaction is repeated if another program has switched the history on.
      if isPlain, history?.isTracking != true {
        return BatchOutcome(
          count: try transaction.execute(
            """
            DELETE FROM \(table: plan.selection.table) \
            WHERE id IN (SELECT r0.id\(try clauses(batch.rows, plan, locking: .deletion)))
            """))
      }
      var pass = try ServerBatchDeletePass(selection, rules, store: self, in: transaction)
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
    _ requested: ServerText, _ rules: [DeletionRules], store: PostgreSQLStore, in transaction: ServerTransaction
  ) throws {
    self.store = store
    self.transaction = transaction
    var found: DoomedRows.Keys = [:]
    for (key, number) in try transaction.all(requested, { ($0.integer($1, 0), $0.integer($1, 1)) }) {
      found.add(key, entityNumber: number, store.map.numbers)
    }
    // The transaction has begun with this statement.
    let runner = ServerHistoryConnection(transaction.session)
    doomed = try DoomedRows(found, rules: rules, numbers: store.map.numbers, in: runner)
  }

  /// Removes the rows from all relationships.
  mutating func severRelationships() throws {
    for (_, rules, keys) in doomed.inOrder {
      for end in rules.ends {
        let statements = end.severing(rowsWith: keys)
        if !statements.isEmpty { try recordLosses(at: end, of: rules, keys) }
        transaction.runLast(statements.map { ServerText($0) })
      }
    }
  }

  /// Records in the history that remaining rows no longer refer to deleted ones.
  private mutating func recordLosses(at end: DeletionRules.End, of owner: DeletionRules, _ keys: Set<Int64>) throws {
    guard history != nil else { return }
    for loss in try doomed.losses(at: end, of: owner, keys) {
      history?.recordUpdate(of: loss.key, loss.entity, changing: loss.slots)
    }
  }

  mutating func deleteRows() {
    for (index, rules, keys) in doomed.inOrder {
      if var writer = history {
        transaction.runLast(writer.recordDeletions(of: keys.sorted(), index, store.kinds.value))
        history = writer
      }
      transaction.runLast(["DELETE FROM \(table: rules.table) WHERE id = ANY(\(integers: keys))"])
    }
  }
}
