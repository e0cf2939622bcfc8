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
    var rows: [String: Int64] = Dictionary()
    func count(_ table: String) throws -> Int64 {
      if let known = rows[table] { return known }
      let count = schema.hasTable(named: table) ? try connection.approximateRowCount(of: table) : 0
      rows[table] = count
      return count
    }
    let costs = if case .server = location { WorkCost.onServer } else { WorkCost.inFile }
    let parts = try changes.map { change in
      try change.change.writtenTable.map { table in
        let entries =
          if case .createIndex(let index) = change.change { [costs.entry(of: index, schema)] } else {
            survey.map.indexDefinitions.filter { $0.table.foldedIdentifier == table.foldedIdentifier }
              .map { costs.entry(of: $0, schema) }
          }
        return InPlaceProgress.Part(change.change, rows: try 1 + count(table), entries: entries, costs)
      } ?? InPlaceProgress.Part()
    }
    // Columns and indexes are added without checks, and an index is all that its creation writes.
    let rewritten = Set(changes.map(\.change).filter { !$0.isOfIndex }.compactMap(\.writtenTable))
    let rewrittenRows = try rewritten.reduce(0) { $0 + WorkCost.of(try count($1), each: 1) }
    let newEntries = zip(changes, parts).reduce(0) { $0 + ($1.0.change.isOfIndex ? $1.1.rows : 0) }
    let written = rewrittenRows == 0 ? Int(WorkCost.of(newEntries, each: WorkCost.bytesOfEntry)) : bytes
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

extension WorkCost.InPlace {
  /// The cost of an entry of an index.
  fileprivate func entry(of index: IndexDefinition, _ schema: StoreSchema) -> Int64 {
    let type = index.columns.first.flatMap { schema.column($0.name, of: index.table)?.declaredType }
    return type == TableMap.ColumnType.varchar.rawValue ? textEntry : indexEntry
  }
}

extension InPlaceProgress.Part {
  /// - Parameters:
  ///   - rows: The number of rows that the change reads.
  ///   - entries: The costs of an entry of each index that the change creates, or of the indexes of their table.
  fileprivate init(_ change: SchemaChange, rows: Int64, entries: [Int64], _ costs: WorkCost.InPlace) {
    self.rows = rows
    switch change {
    case .rebuildTable:
      costOfRow = costs.rewrittenRow + costs.keyEntry + (costs.countsEntries ? 0 : entries.reduce(0, +))
      (costOfRemoval, entriesOfRow) = (costs.droppedRow, costs.countsEntries ? entries : [])
    case .dropColumn, .copyRows: costOfRow = costs.rewrittenRow
    case .createIndex: costOfRow = entries.reduce(0, +)
    default: costOfRow = WorkCost.changedRow
    }
  }
}
