import Foundation

extension SQLiteStore {
  /// Deletes rows and applies their delete rules, set by set.
  func delete(_ batch: BatchDelete) throws -> BatchOutcome {
    guard !map.absent.contains(batch.rows.entity.name) else { return BatchOutcome() }
    let selection = try selection(batch.rows, plan(for: batch.rows))
    let rules = deletionRules
    let entities = batch.rows.includesSubentities ? Array(model.hierarchy(of: batch.rows.entity)) : [batch.rows.entity]
    let isWindow = selection.limit != nil || selection.offset > 0
    let isPlain = !batch.wantsIdentifiers && !isWindow && entities.allSatisfy { rules[$0.index].areNone }
    var files = LargeValueFiles(externalFolder)
    let outcome = try pool.write { connection in
      // Known only within the transaction: another program may have switched the history on.
      if isPlain, history?.isTracking != true, try !isConverting(selection.table, connection) {
        return BatchOutcome(count: try connection.execute(.delete(selection)))
      }
      var pass = try BatchDeletePass(selection, rules, store: self, on: connection)
      pass.history = try historyWriter(by: batch.origin, connection)
      defer { files = pass.files }
      try pass.severRelationships()
      try pass.deleteRows()
      _ = try pass.history?.finish()
      return pass.doomed.outcome(inStore: identifier, withIdentifiers: batch.wantsIdentifiers)
    }
    discardReplaced(files)
    return outcome
  }

  /// By index in ``ManagedObjectModel/entities``.
  private var deletionRules: [DeletionRules] {
    zip(model.entities, plans.writes).map { DeletionRules($0, in: map, fileColumns: $1.fileColumns) }
  }
}

/// The steps of one batch delete, inside a transaction.
private struct BatchDeletePass: ~Copyable {
  let doomed: DoomedRows
  private let connection: SQLiteConnection
  /// `Z_ENT` of the rows in this store.
  private let numbers: EntityNumbers
  var files: LargeValueFiles
  /// Records the deletion in the history; nil if changes aren't recorded.
  var history: HistoryWriter?

  init(
    _ requested: SQLText.RowSelection, _ rules: [DeletionRules], store: SQLiteStore, on connection: SQLiteConnection
  ) throws {
    self.connection = connection
    numbers = store.map.numbers
    files = LargeValueFiles(store.externalFolder)
    var found: DoomedRows.Keys = Dictionary()
    try connection.query(.rows(.keyColumns(ofOnly: nil), requested)) { row in
      found.add(row.integer(0), entityNumber: row.integer(1), store.map.numbers)
    }
    doomed = try DoomedRows(found, rules: rules, numbers: store.map.numbers, in: connection)
  }

  /// Removes the rows from all relationships.
  mutating func severRelationships() throws {
    for (_, rules, keys) in doomed.inOrder {
      for end in rules.ends {
        let statements = end.severing(rowsWith: keys)
        if !statements.isEmpty { try recordLosses(at: end, of: rules, keys) }
        for statement in statements { try connection.execute(statement) }
      }
    }
  }

  /// Records in the history that remaining rows no longer refer to deleted ones.
  private mutating func recordLosses(at end: DeletionRules.End, of owner: DeletionRules, _ keys: Set<Int64>) throws {
    guard history != nil else { return }
    for loss in try doomed.losses(at: end, of: owner, keys) {
      try history?.recordUpdate(of: loss.key, loss.entity, changing: loss.slots)
    }
  }

  mutating func deleteRows() throws {
    for (index, rule, keys) in doomed.inOrder {
      if !rule.fileColumns.isEmpty {
        var rows = SQLText.RowSelection(table: rule.table, entities: .known([numbers[rule.entity]]))
        rows.keys = SQLText.json(keys)
        try connection.query(.fileNames(rows, rule.fileColumns)) { row in
          for column in rule.fileColumns.indices { files.replace(columnContent: row.data(Int32(column))) }
        }
      }
      if history != nil { for key in keys.sorted() { try history?.recordDeletion(of: key, index) } }
      try connection.execute(.delete(from: rule.table, where: "Z_PK", isIn: keys))
    }
  }
}
