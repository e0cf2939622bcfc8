/// The obstacles to a copy in a store beyond the rows of its model: what the plan shows is what the migration refuses.
extension CopyPlan {
  /// The folded names of the tables of the old model.
  var oldTableNames: Set<String> {
    Set((old.tables.map(\.table) + old.joinTables.map(\.name)).map(\.foldedIdentifier))
  }

  /// The numbers in tables that aren't the model's. They identify objects by entity number and key, so entries continue
  /// for objects that keep their keys.
  func numbering(in schema: StoreSchema) -> HistoryNumbering {
    var numbering: [Int: Int] = Dictionary()
    for step in steps where step.isKeyed && step.offset == 0 {
      guard let source = step.source, let destination = step.destination else { continue }
      let number = old.numbers[source]
      if numbering[number] == nil { numbering[number] = new.numbers[destination] }
    }
    let known = Set(old.tables.map(\.number))
    return HistoryNumbering(
      in: schema, modelTables: oldTableNames, numbering: numbering,
      gone: known.filter { numbering[$0] == nil }.sorted(),
      added: new.tables.map(\.number).filter { !known.contains($0) })
  }

  /// Row counts that must be zero before the copy of a whole store, with the blockers if they aren't.
  func checks(in schema: StoreSchema) -> [(count: RowCount, blocker: MigrationBlocker)] {
    old.unknownRows.map { ($0.count, $0.blocker) } + checks + numbering(in: schema).checks
  }

  /// The obstacles to the copy of a whole store that don't depend on the rows: generated columns that others added to a
  /// table whose rows are copied, and tables that others made under a name that the new model needs.
  func blockers(in schema: StoreSchema) -> [MigrationBlocker] {
    generatedColumns(in: schema) + takenNames(in: schema)
  }

  private func takenNames(in schema: StoreSchema) -> [MigrationBlocker] {
    let made = Set((new.tables.map(\.table) + new.joinTables.map(\.name)).map(\.foldedIdentifier))
    return schema.tables.map(\.name).filter { name in
      made.contains(name.foldedIdentifier) && !oldTableNames.contains(name.foldedIdentifier)
    }.map { name in
      MigrationBlocker(
        .migrationFailed, what: "The store contains a custom table '\(name)', whose name the new model needs.",
        fix: "Rename the table before migrating. The store is unchanged.")
    }
  }

  private func generatedColumns(in schema: StoreSchema) -> [MigrationBlocker] {
    old.tables.filter { $0.entity.superentity == nil }.compactMap { place in
      let isCopied = steps.contains { $0.source?.root === place.entity && $0.destination != nil }
      guard isCopied, let column = schema.table(named: place.table)?.generatedColumns.first else { return nil }
      return MigrationBlocker(losing: column, of: place.table, place.entity)
    }
  }
}
