import Foundation

extension SQLiteStore {
  /// Deletes rows and applies their delete rules, set by set.
  func delete(_ batch: BatchDelete) throws -> BatchOutcome {
    guard !map.absent.contains(batch.rows.entity.name) else { return BatchOutcome() }
    let selection = try selection(batch.rows, plan(for: batch.rows))
    let rules = deletionRules
    let entities = batch.rows.includesSubentities ? Array(model.hierarchy(of: batch.rows.entity)) : [batch.rows.entity]
    let isWindow = selection.limit != nil || selection.offset > 0
    let isRecorded = history?.isTracking == true
    if !batch.wantsIdentifiers, !isWindow, !isRecorded, entities.allSatisfy({ rules[$0.number - 1].areNone }) {
      return BatchOutcome(count: try pool.write { try $0.execute(.delete(selection)) })
    }
    var files = LargeValueFiles(externalFolder)
    let outcome = try pool.write { connection in
      var pass = BatchDeletePass(rules: rules, store: self, connection: connection)
      pass.history = try historyWriter(by: batch.origin, connection)
      defer { files = pass.files }
      try pass.find(selection)
      try pass.cascade()
      try pass.checkDenials()
      try pass.severRelationships()
      try pass.deleteRows()
      _ = try pass.history?.finish()
      return pass.outcome(withIdentifiers: batch.wantsIdentifiers)
    }
    discardReplaced(files)
    return outcome
  }

  /// By index in ``ManagedObjectModel/entities``.
  private var deletionRules: [DeletionRules] {
    zip(model.entities, writePlans.value).map { DeletionRules($0, in: map, fileColumns: $1.fileColumns) }
  }
}

/// The steps of one batch delete, inside a transaction: all rows to delete are determined before the first is deleted.
private struct BatchDeletePass {
  let rules: [DeletionRules]
  let store: SQLiteStore
  let connection: SQLiteConnection
  var files: LargeValueFiles
  /// Records the deletion in the history; nil if changes aren't recorded.
  var history: HistoryWriter?
  /// The keys of the rows to delete, by entity.
  private var doomed: [Int: Set<Int64>] = [:]
  /// The number of requested rows, without those deleted by delete rules.
  private var asked = 0

  init(rules: [DeletionRules], store: SQLiteStore, connection: SQLiteConnection) {
    self.rules = rules
    self.store = store
    self.connection = connection
    files = LargeValueFiles(store.externalFolder)
  }

  mutating func find(_ rows: SQLText.RowSelection) throws {
    let found = try read(.rows(.keyColumns(ofOnly: nil), rows))
    asked = found.values.reduce(0) { $0 + $1.count }
    doomed = found
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
        let staying = try read(rows(at: end, of: rules[index], keys)).contains { entity, found in
          !found.isSubset(of: doomed[entity] ?? [])
        }
        guard staying else { continue }
        throw end.denial(of: rules[index].entity)
      }
    }
  }

  /// Removes the rows from all relationships: columns that contain their keys, and pairs in join tables.
  mutating func severRelationships() throws {
    for (index, keys) in doomed {
      let json = Self.json(keys)
      for end in rules[index].ends {
        switch end.place {
        case .join(let join):
          if history != nil { try noteLosses(read(rows(at: end, of: rules[index], keys)), changing: end.inverseName) }
          for column in join.isReflexive ? [join.ownColumn, join.memberColumn] : [join.ownColumn] {
            try connection.execute(.delete(from: join.table, where: column, isIn: json))
          }
        case .foreignKey(let key) where end.rule != .noAction:
          if history != nil { try noteLosses(read(rows(at: end, of: rules[index], keys)), changing: end.inverseName) }
          let columns = [key.column, key.entityColumn, key.orderColumn].compactMap { $0 }
          try connection.execute(.clear(columns, of: key.table, where: key.column, isIn: json))
        case .foreignKey, .own: break
        }
      }
    }
  }

  /// Records in the history that remaining rows no longer refer to deleted ones.
  private mutating func noteLosses(_ rows: [Int: Set<Int64>], changing name: String?) throws {
    for (index, keys) in rows {
      let slots = name.flatMap { rules[index].entity.slot(named: $0) }.map { [$0] } ?? []
      for key in keys.subtracting(doomed[index] ?? []).sorted() {
        try history?.recordUpdate(of: key, index, changing: slots)
      }
    }
  }

  mutating func deleteRows() throws {
    for (index, keys) in doomed {
      let rule = rules[index]
      let json = Self.json(keys)
      if !rule.fileColumns.isEmpty {
        var rows = SQLText.RowSelection(
          table: rule.table, entities: .known([store.map.numbers[rule.entity]]))
        rows.keys = json
        try connection.query(.fileNames(rows, rule.fileColumns)) { row in
          for column in rule.fileColumns.indices { files.replace(columnContent: row.data(Int32(column))) }
        }
      }
      if history != nil { for key in keys.sorted() { try history?.recordDeletion(of: key, index) } }
      try connection.execute(.delete(from: rule.table, where: "Z_PK", isIn: json))
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

  private func rows(at end: DeletionRules.End, of owner: DeletionRules, _ keys: Set<Int64>) -> SQLText {
    let json = Self.json(keys)
    switch end.place {
    case .foreignKey(let key): return .keys(in: key.table, where: key.column, isIn: json)
    case .join(let join):
      return .keys(
        in: end.destinationTable, from: join.table, join.memberColumn, where: join.ownColumn, isIn: json)
    case .own(let column):
      return .keys(in: end.destinationTable, from: owner.table, column, where: "Z_PK", isIn: json)
    }
  }

  /// Keys by entity. Rows of entities unknown to the model are ignored.
  private func read(_ sql: SQLText) throws -> [Int: Set<Int64>] {
    var found: [Int: Set<Int64>] = [:]
    try connection.query(sql) { row in
      guard let index = store.map.numbers.entityIndex(ofNumber: Int(truncatingIfNeeded: row.integer(1))) else { return }
      found[index, default: []].insert(row.integer(0))
    }
    return found
  }

  private static func json(_ keys: Set<Int64>) -> String { "[" + keys.map(String.init).joined(separator: ",") + "]" }
}
