/// Copies the parts of a store beyond its model's tables: its history, the application's own tables with their indexes
/// and triggers, views, and additions by others to the model's tables.
///
/// Triggers, views and added indexes are kept if everything that they refer to still exists by name.
struct CopySurroundings {
  let plan: CopyPlan
  let file: any StoreCopy
  let schema: StoreSchema

  /// The connection that reads the store and writes the copy.
  var source: any MigrationConnection { file.source }

  func takeOver() throws {
    guard file.isNew else { return }
    let tables = schema.tables.filter { !isOfStore($0.name) }
    try makeTables(tables)
    for table in tables where !table.isVirtual {
      try source.execute(.clearCopied(table.name))
      // Other tables, such as the index of a full-text search, may refer to rows by their rowid.
      let columns = [table.rowidName].compactMap { $0 } + table.columns.map(\.name)
      try source.execute(.copyWhole(table.name, columns: columns))
    }
    try source.execute(.copySystemNumbers)
    try file.apply(historyChanges(tables))
    try takeOverColumns()
    let present = try file.schema()
    if present.table(named: "sqlite_sequence") != nil {
      try source.execute(.clearCopied("sqlite_sequence"))
      try source.execute(.copyWhole("sqlite_sequence", columns: ["name", "seq"]))
    }
    try makeAttachments(of: tables, present)
  }

  // MARK: Tables

  var modelTables: Set<String> {
    Set((plan.old.tables.map(\.table) + plan.old.joinTables.map(\.name)).map(\.foldedIdentifier))
  }

  /// Whether a table belongs to the model or is a system table of every store.
  private func isOfStore(_ name: String) -> Bool {
    let folded = name.foldedIdentifier
    return modelTables.contains(folded) || folded.hasPrefix("sqlite_")
      || name.hasPrefix(FullTextIndex.prefix) || ParkedSlot.Table.all.contains(name)
      || ["z_primarykey", "z_metadata", "z_modelcache", "persist_metadata"].contains(folded)
  }

  /// Creates virtual tables first, because they create their own shadow tables, which are then filled like the others.
  private func makeTables(_ tables: [StoreSchema.Table]) throws {
    let made = plan.new.tables.map(\.table) + plan.new.joinTables.map(\.name)
    let taken = Set(made.map(\.foldedIdentifier))
    for table in tables where taken.contains(table.name.foldedIdentifier) {
      throw PersistenceError(
        .migrationFailed, at: .store(source.url),
        "The store contains a custom table '\(table.name)', whose name the new model needs.",
        fix: "Rename the table before migrating. The store is unchanged.")
    }
    try file.define(tables.filter(\.isVirtual).map(\.sql))
    let present = try file.schema()
    try file.define(tables.filter { present.table(named: $0.name) == nil }.map(\.sql))
  }

  // MARK: History

  /// The history identifies objects by entity number and key, so it is continued for objects that keep their keys.
  private func historyChanges(_ tables: [StoreSchema.Table]) -> [SchemaChange] {
    var numbering: [Int: Int] = [:]
    for step in plan.steps where step.isKeyed && step.offset == 0 {
      guard let source = step.source, let destination = step.destination else { continue }
      let number = plan.old.numbers[source]
      if numbering[number] == nil { numbering[number] = plan.new.numbers[destination] }
    }
    let gone = plan.old.tables.map(\.number).filter { numbering[$0] == nil }
    let history = HistoryNumbering(in: tables, numbering: numbering, gone: gone)
    return history.removals + history.renumberings
  }

  // MARK: Indexes, triggers and views

  private func makeAttachments(of tables: [StoreSchema.Table], _ present: StoreSchema) throws {
    let names = Set(tables.map(\.name.foldedIdentifier))
    let removed = removedParts(present)
    let indexes = schema.indexes.filter { names.contains($0.table.foldedIdentifier) }
    let added = addedIndexes(present).filter { !removed.affects($0, of: schema) }
    let views = schema.views.filter { !removed.affects($0, of: schema) }
    let triggers = schema.triggers.filter { trigger in
      !trigger.keepsDerivedValues && !trigger.name.hasPrefix(FullTextIndex.prefix)
        && !removed.affects(trigger, of: schema)
    }
    try file.define((indexes + added).compactMap(\.sql) + views.map(\.sql) + triggers.map(\.sql))
  }

  /// The old model's tables and columns that the copy lacks under their names.
  private func removedParts(_ present: StoreSchema) -> RemovedParts {
    let numbers = plan.steps.compactMap { step in
      step.source.map { source in step.destination.map { plan.new.numbers[$0] } == plan.old.numbers[source] }
    }
    var removed = RemovedParts(renumbersEntities: numbers.contains(false))
    for table in schema.tables where modelTables.contains(table.name.foldedIdentifier) {
      guard let new = present.table(named: table.name) else {
        removed.insert(table: table.name)
        continue
      }
      for column in table.columns where new.column(named: column.name) == nil {
        removed.insert(column: column.name, of: table.name)
      }
    }
    return removed
  }
}

extension StoreSchema.Table {
  /// The columns of virtual tables aren't read, because their module may be missing.
  fileprivate var isVirtual: Bool { columns.isEmpty }

  /// A name by which the rowid can be read and written, beside or as the primary key; nil if there is none.
  ///
  /// - SeeAlso: <https://sqlite.org/lang_createtable.html#rowid>
  fileprivate var rowidName: String? {
    let words = SQLTokens(sql).map { $0.lowercased() }
    guard !zip(words, words.dropFirst()).contains(where: { $0 == "without" && $1 == "rowid" }) else { return nil }
    return ["rowid", "_rowid_", "oid"].first { column(named: $0) == nil }
  }
}
