extension InPlaceMigration {
  /// The work of the migration, weighed by its costs. Nothing is counted if nobody asks.
  ///
  /// - Parameter bytes: The bytes that are written to the log or the journal if tables have rows.
  func progress(
    _ survey: StoreSurvey, writing bytes: Int, _ connection: any MigrationConnection
  ) throws -> InPlaceProgress {
    let changes = survey.work.changes
    let reported = hop?.reported ?? survey.hop.reported
    guard migrator.progress != nil else {
      return InPlaceProgress(
        preparation: 0, changes.map { _ in .init() }, completion: 0, commit: 0, hop: reported, report: nil)
    }
    let schema = survey.store.catalog.schema
    var rows: [String: Int64] = [:]
    func count(_ table: String) throws -> Int64 {
      if let known = rows[table] { return known }
      let count = schema.table(named: table) == nil ? 0 : try connection.approximateRowCount(of: table)
      rows[table] = count
      return count
    }
    let parts = try changes.map { change in
      try change.change.writtenTable.map { table in
        let indexes = schema.indexes.count { $0.sql != nil && $0.table.foldedIdentifier == table.foldedIdentifier }
        return InPlaceProgress.Part(change.change, rows: try 1 + count(table), indexes: indexes)
      } ?? InPlaceProgress.Part()
    }
    // Columns and indexes are added without checks, and an index is all that its creation writes.
    let rewritten = Set(changes.map(\.change).filter { !$0.isOfIndex }.compactMap(\.writtenTable))
    let rewrittenRows = try rewritten.reduce(0) { $0 + WorkCost.of(try count($1), each: 1) }
    let costs = if case .server = StoreLocation(url) { WorkCost.onServer } else { WorkCost.inFile }
    let entries = zip(changes, parts).reduce(0) { $0 + ($1.0.change.isOfIndex ? $1.1.rows : 0) }
    let written = rewrittenRows == 0 ? Int(WorkCost.of(entries, each: WorkCost.bytesOfEntry)) : bytes
    return InPlaceProgress(
      preparation: WorkCost.of(rewrittenRows, each: costs.checkedRow), parts,
      completion: try completion(survey, count) + WorkCost.of(rewrittenRows, each: costs.verifiedRow),
      commit: WorkCost.pages(ofSize: written, each: costs.committedPage), hop: reported, report: migrator.progress)
  }

  /// The cost of the indexes of texts that are filled after the changes.
  private func completion(_ survey: StoreSurvey, _ count: (String) throws -> Int64) throws -> Int64 {
    let rewritten = Set(survey.work.changes.flatMap(\.change.tablesWithOtherRows).map(\.foldedIdentifier))
    let former = survey.map.fullTextIndexes
    return try survey.planned.fullTextIndexes.reduce(0) { sum, index in
      guard !former.contains(index) || rewritten.contains(index.table.foldedIdentifier) else { return sum }
      return sum + WorkCost.of(try count(index.table), each: WorkCost.indexedText)
    }
  }
}

extension SchemaChange {
  fileprivate var isOfIndex: Bool {
    if case .createIndex = self { true } else { false }
  }
}

extension InPlaceProgress.Part {
  /// - Parameters:
  ///   - rows: The number of rows that the change reads.
  ///   - indexes: The number of indexes of their table.
  fileprivate init(_ change: SchemaChange, rows: Int64, indexes: Int) {
    self.rows = rows
    switch change {
    case .rebuildTable:
      (costOfRow, costOfRemoval, self.indexes) = (WorkCost.rewrittenRow, WorkCost.droppedRow, Int64(indexes))
    case .dropColumn, .copyRows: costOfRow = WorkCost.rewrittenRow
    case .createIndex: costOfRow = WorkCost.indexEntry
    default: costOfRow = WorkCost.changedRow
    }
  }
}
