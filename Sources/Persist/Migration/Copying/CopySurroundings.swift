/// Copies the parts of a store beyond its model's tables: its history, the application's own tables with their indexes
/// and triggers, views, and additions by others to the model's tables.
///
/// Foreign keys, views, triggers and added indexes follow tables and columns to their new names. They are kept if
/// everything that they refer to still exists.
struct CopySurroundings: ~Copyable {
  let plan: CopyPlan
  let file: any StoreCopy
  let schema: StoreSchema
  /// The source's schema with the copy's names.
  private let renamed: StoreSchema

  init(plan: CopyPlan, file: any StoreCopy, schema: StoreSchema) throws {
    self.plan = plan
    self.file = file
    self.schema = schema
    let renames = CopyRenames(plan, in: schema).changes
    renamed = renames.isEmpty ? schema : try file.renaming(schema, by: renames)
  }

  func takeOver() throws {
    guard file.isNew else { return }
    let tables = schema.tables.filter { !isOfStore($0.name) }.map { renamed.table(named: $0.name) ?? $0 }
    try makeTables(tables)
    for table in tables where !table.isVirtual {
      try file.execute(.clearCopied(table.name))
      // Other tables, such as the index of a full-text search, may refer to rows by their rowid.
      let columns = [table.rowidName].compactMap { $0 } + table.columns.map(\.name)
      try file.execute(.copyWhole(table.name, columns: columns))
    }
    try file.execute(.copySystemNumbers)
    let numbering = plan.numbering(in: schema)
    try file.apply(numbering.removals + numbering.renumberings)
    try takeOverColumns()
    let present = try file.schema()
    if present.hasTable(named: "sqlite_sequence") {
      try file.execute(.clearCopied("sqlite_sequence"))
      try file.execute(.copyWhole("sqlite_sequence", columns: ["name", "seq"]))
    }
    try makeAttachments(of: tables, present)
  }

  // MARK: Tables

  private var modelTables: Set<String> { plan.oldTableNames }

  /// Whether a table belongs to the model or is a system table of every store.
  private func isOfStore(_ name: String) -> Bool {
    let folded = name.foldedIdentifier
    return modelTables.contains(folded) || folded.hasPrefix("sqlite_")
      || name.hasPrefix(FullTextIndex.prefix) || ParkedSlot.Table.all.contains(name)
      || ["z_primarykey", "z_metadata", "z_modelcache", "persist_metadata"].contains(folded)
  }

  /// Creates virtual tables first, because they create their own shadow tables, which are then filled like the others.
  private func makeTables(_ tables: [StoreSchema.Table]) throws {
    try file.define(tables.filter(\.isVirtual).map(\.sql))
    let present = try file.schema()
    try file.define(tables.filter { !present.hasTable(named: $0.name) }.map(\.sql))
  }

  // MARK: Indexes, triggers and views

  private func makeAttachments(of tables: [StoreSchema.Table], _ present: StoreSchema) throws {
    let names = Set(tables.map(\.name.foldedIdentifier))
    let removed = removedParts(present)
    let indexes = renamed.indexes.filter { names.contains($0.table.foldedIdentifier) }
    let addedNames = Set(addedIndexes().map(\.name.foldedIdentifier))
    let added = renamed.indexes.filter { index in
      addedNames.contains(index.name.foldedIdentifier) && present.hasTable(named: index.table)
        && !removed.affects(index, of: renamed)
    }
    let views = renamed.views.filter { !removed.affects($0, of: renamed) }
    let triggers = renamed.triggers.filter { trigger in
      !trigger.keepsDerivedValues && !trigger.name.hasPrefix(FullTextIndex.prefix)
        && !ParkedSlot.isTrigger(trigger.name)
        && !removed.affects(trigger, of: renamed)
    }
    try file.define((indexes + added).compactMap(\.sql) + views.map(\.sql) + triggers.map(\.sql))
  }

  /// The old model's tables and columns that the copy lacks, by their new names.
  private func removedParts(_ present: StoreSchema) -> RemovedParts {
    let numbers = plan.steps.compactMap { step in
      step.source.map { source in step.destination.map { plan.new.numbers[$0] } == plan.old.numbers[source] }
    }
    var removed = RemovedParts(renumbersEntities: numbers.contains(false))
    // All other tables keep their names.
    let others = Set(schema.tables.map(\.name.foldedIdentifier)).subtracting(modelTables)
    for table in renamed.tables where !others.contains(table.name.foldedIdentifier) {
      guard let new = present.table(named: table.name) else {
        removed.insert(table: table.name)
        continue
      }
      for column in table.columns where !new.hasColumn(named: column.name) {
        removed.insert(column: column.name, of: table.name)
      }
    }
    return removed
  }
}

extension StoreSchema.Table {
  /// The columns of virtual tables aren't read, because their module may be missing.
  fileprivate var isVirtual: Bool { columns.isEmpty }
}
