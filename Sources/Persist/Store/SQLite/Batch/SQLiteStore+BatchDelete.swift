import Foundation

extension SQLiteStore {
  /// Deletes rows and applies their delete rules, set by set.
  func delete(_ batch: BatchDelete) throws -> BatchOutcome {
    guard !map.absent.contains(batch.rows.entity.name) else { return BatchOutcome() }
    let selection = try selection(batch.rows, plan(for: batch.rows))
    let rules = deletionRules
    let entities = batch.rows.includesSubentities ? Array(model.hierarchy(of: batch.rows.entity)) : [batch.rows.entity]
    let isWindow = selection.limit != nil || selection.offset > 0
    let isPlain = !batch.wantsIdentifiers && !isWindow && entities.allSatisfy { rules[$0.number - 1].areNone }
    var files = LargeValueFiles(externalFolder)
    let outcome = try pool.write { connection in
      // Known only within the transaction: another program may have switched the history on.
      if isPlain, history?.isTracking != true, try !isConverting(selection.table, connection) {
        return BatchOutcome(count: try connection.execute(.delete(selection)))
      }
      var pass = try BatchDeletePass(selection, rules, store: self, connection)
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
private struct BatchDeletePass {
  let doomed: DoomedRows
  private let connection: SQLiteConnection
  /// `Z_ENT` of the rows in this store.
  private let numbers: EntityNumbers
  var files: LargeValueFiles
  /// Records the deletion in the history; nil if changes aren't recorded.
  var history: HistoryWriter?

  init(
    _ requested: SQLText.RowSelection, _ rules: [DeletionRules], store: SQLiteStore, _ connection: SQLiteConnection
  ) throws {
    self.connection = connection
    numbers = store.map.numbers
    files = LargeValueFiles(store.externalFolder)
    let found = try connection.keys(.rows(.keyColumns(ofOnly: nil), requested), store.map.numbers)
    doomed = try DoomedRows(found, rules) { end, owner, keys in
      try connection.keys(.rows(at: end, of: owner, keys), store.map.numbers)
    }
  }

  /// Removes the rows from all relationships: columns that contain their keys, and pairs in join tables.
  mutating func severRelationships() throws {
    for (_, rules, keys) in doomed.inOrder {
      let json = SQLText.json(keys)
      for end in rules.ends {
        switch end.place {
        case .join(let join):
          try recordLosses(at: end, of: rules, keys)
          for column in join.isReflexive ? [join.ownColumn, join.memberColumn] : [join.ownColumn] {
            try connection.execute(.delete(from: join.table, where: column, isIn: json))
          }
        case .foreignKey(let key) where end.rule != .noAction:
          try recordLosses(at: end, of: rules, keys)
          let columns = [key.column, key.entityColumn, key.orderColumn].compactMap { $0 }
          try connection.execute(.clear(columns, of: key.table, where: key.column, isIn: json))
        case .foreignKey, .own: break
        }
      }
    }
  }

  /// Records in the history that remaining rows no longer refer to deleted ones.
  private mutating func recordLosses(at end: DeletionRules.End, of owner: DeletionRules, _ keys: Set<Int64>) throws {
    guard history != nil else { return }
    for loss in doomed.losses(try connection.keys(.rows(at: end, of: owner, keys), numbers), at: end) {
      try history?.recordUpdate(of: loss.key, loss.entity, changing: loss.slots)
    }
  }

  mutating func deleteRows() throws {
    for (index, rule, keys) in doomed.inOrder {
      let json = SQLText.json(keys)
      if !rule.fileColumns.isEmpty {
        var rows = SQLText.RowSelection(table: rule.table, entities: .known([numbers[rule.entity]]))
        rows.keys = json
        try connection.query(.fileNames(rows, rule.fileColumns)) { row in
          for column in rule.fileColumns.indices { files.replace(columnContent: row.data(Int32(column))) }
        }
      }
      if history != nil { for key in keys.sorted() { try history?.recordDeletion(of: key, index) } }
      try connection.execute(.delete(from: rule.table, where: "Z_PK", isIn: json))
    }
  }
}

extension SQLText {
  /// Keys and entity numbers of the rows at one end of a relationship of deleted rows.
  fileprivate static func rows(at end: DeletionRules.End, of owner: DeletionRules, _ keys: Set<Int64>) -> SQLText {
    let json = json(keys)
    switch end.place {
    case .foreignKey(let key): return .keys(in: key.table, where: key.column, isIn: json)
    case .join(let join):
      return .keys(in: end.destinationTable, from: join.table, join.memberColumn, where: join.ownColumn, isIn: json)
    case .own(let column):
      return .keys(in: end.destinationTable, from: owner.table, column, where: "Z_PK", isIn: json)
    }
  }

  static func json(_ keys: some Sequence<Int64>) -> String {
    "[" + keys.map(String.init).joined(separator: ",") + "]"
  }
}

extension SQLiteConnection {
  /// Reads keys by entity. Rows of entities unknown to the model are ignored.
  fileprivate func keys(_ sql: SQLText, _ numbers: EntityNumbers) throws -> DoomedRows.Keys {
    var found: DoomedRows.Keys = [:]
    try query(sql) { row in
      guard let index = numbers.entityIndex(ofNumber: Int(truncatingIfNeeded: row.integer(1))) else { return }
      found[index, default: []].insert(row.integer(0))
    }
    return found
  }
}
