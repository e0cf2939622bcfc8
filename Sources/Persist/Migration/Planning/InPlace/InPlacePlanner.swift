/// Plans a migration in place: from the layout of a store to that of a new store of the new model.
///
/// Pure. The old layout is that of the actual store, determined from its schema. At most one old table becomes each
/// table of the new layout; its columns are then changed in the cheapest correct way. Rows that belong elsewhere are
/// copied out of it. Tables and columns that aren't part of the old model are kept.
final class InPlacePlanner {
  let old: TableMap
  let schema: StoreSchema
  let new: TableMap
  let comparison: ModelComparison
  /// Whether SQLite can drop a column: 3.35 and later.
  let canDropColumns: Bool
  /// Whether to defer dropping columns and creating indexes that only speed up fetching.
  let defersWork: Bool
  /// Whether columns of removed attributes remain under other names instead of being dropped.
  let keepsRemovedColumns: Bool
  /// The tables, by their new names, whose values are converted after the migration.
  let converting: Set<String>
  /// The parked values that are restored afterward.
  let parked: ParkedReturn
  let moves: [RowMove]
  /// The same by the tables of the old layout, and of the new one.
  let movesFrom: [String: [RowMove]]
  let movesInto: [String: [RowMove]]
  let origins: RelationshipOrigins
  /// The hierarchies whose tables need no plan if the store has them as predicted.
  let unchanged: UnchangedHierarchies
  /// The tables of unchanged hierarchies whose actual columns are as predicted, and all remain.
  var unchangedTables: Set<String> = []
  let oldUses: ColumnUses
  let newUses: ColumnUses
  /// The new layout's table definitions, computed once.
  let definitions: [String: TableDefinition]
  /// The folded names of the old model's tables.
  let oldTables: Set<String>
  let oldIndexes: [IndexDefinition]
  let newIndexes: [IndexDefinition]
  private(set) var tables = TablePlans()
  var work = InPlaceWork()
  var stages: [PairSource: PairStage] = Dictionary()

  var correspondence: ModelCorrespondence { comparison.correspondence }

  /// - Parameters:
  ///   - schema: the schema of the store in which `old` was found.
  ///   - unchanged: the hierarchies that need no plan; nil to determine them.
  static func plan(
    from old: TableMap, schema: StoreSchema, to new: TableMap, comparison: ModelComparison,
    canDropColumns: Bool = true, defersWork: Bool = false, keepsRemovedColumns: Bool = false,
    converting: Set<String> = [], parked: ParkedReturn = ParkedReturn(), unchanged: UnchangedHierarchies? = nil
  ) -> InPlaceWork {
    let planner = InPlacePlanner(
      old: old, schema: schema, new: new, comparison: comparison, canDropColumns: canDropColumns,
      defersWork: defersWork, keepsRemovedColumns: keepsRemovedColumns, converting: converting, parked: parked,
      unchanged: unchanged)
    planner.planEverything()
    if defersWork { planner.work.convertibleTables = planner.convertibleTables }
    return planner.work
  }

  private init(
    old: TableMap, schema: StoreSchema, new: TableMap, comparison: ModelComparison, canDropColumns: Bool,
    defersWork: Bool, keepsRemovedColumns: Bool, converting: Set<String>, parked: ParkedReturn,
    unchanged: UnchangedHierarchies?
  ) {
    self.old = old
    self.schema = schema
    self.new = new
    self.comparison = comparison
    self.canDropColumns = canDropColumns
    self.defersWork = defersWork
    self.keepsRemovedColumns = keepsRemovedColumns
    self.converting = converting
    self.parked = parked
    let moves = RowMove.all(from: old, to: new, by: comparison.correspondence)
    self.moves = moves
    movesFrom = Dictionary(grouping: moves, by: \.sourceTable)
    movesInto = Dictionary(grouping: moves.filter { $0.table != nil }, by: { $0.table ?? "" })
    origins = RelationshipOrigins(comparison, from: old)
    let isRestoring = !parked.values.isEmpty || !parked.pairs.isEmpty || !parked.objects.isEmpty
    self.unchanged = isRestoring || !old.absent.isEmpty
      ? UnchangedHierarchies() : unchanged ?? UnchangedHierarchies(comparison, from: old, to: new)
    (oldUses, newUses) = (ColumnUses(old), ColumnUses(new))
    definitions = Dictionary(new.tableDefinitions.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    oldTables = Set((old.tables.map(\.table) + old.joinTables.map(\.name)).map(\.foldedIdentifier))
    oldIndexes = old.indexDefinitions
    newIndexes = new.indexDefinitions
    work.names = new.names
  }

  private func planEverything() {
    countLosses()
    tables = TablePlans(planTables())
    refuseToLoseGeneratedColumns()
    guard work.blockers.isEmpty else { return }
    let joins = planJoinTables()
    clearKeysOfUnrelatedRows(joins)
    dropTables(except: joins)
    renameTables(joins)
    for table in tables { reshape(table) }
    for join in joins { reshape(join) }
    planIndexes(joins)
    dropTriggersAndViews()
    renumberHistory()
    planEntityRows()
    requireValues()
    requireUniqueOwners()
    work.forgotten = forgottenValues()
  }

  private func countLosses() {
    for check in LossPlan(comparison, from: old, origins).checks { work.addLoss(check.count, check.loss) }
  }

  // MARK: Entity numbers

  /// The new entity numbers by the old ones, for entities that remain.
  var numbering: [Int: Int] {
    Dictionary(
      moves.compactMap { move in move.number.map { (move.sourceNumber, $0) } }, uniquingKeysWith: { first, _ in first })
  }

  /// Renumbers entities in the store's own records as well: its history, and its synchronization records.
  private func renumberHistory() {
    let known = Set(old.tables.map(\.number))
    let history = HistoryNumbering(
      in: schema, modelTables: oldTables,
      numbering: numbering, gone: moves.filter { $0.number == nil }.map(\.sourceNumber),
      added: new.tables.map(\.number).filter { !known.contains($0) }, renamed: renamedTables)
    for check in history.checks { work.require(check.count, else: check.blocker) }
    for removal in history.removals { work.add(removal, in: .sever) }
    for renumbering in history.renumberings { work.add(renumbering, in: .renumber) }
  }

  /// The names of tables after all tables are renamed, by their present names.
  private var renamedTables: [String: String] {
    var old: [String: String] = Dictionary()
    for change in work.changes {
      guard case .renameTable(let from, let to) = change.change else { continue }
      old[to] = old.removeValue(forKey: from) ?? from
    }
    return Dictionary(old.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
  }

  private func planEntityRows() {
    let rows = new.tables.map { place -> SchemaChange.EntityRow in
      let isRoot = place.entity.superentity == nil
      let maxima = (isRoot ? movesInto[place.table] ?? [] : []).compactMap { move in
        old.numbers.row(ofNumber: old[move.source.root].number)?.maximum
      }
      return SchemaChange.EntityRow(
        number: place.number, name: place.entity.name,
        parent: place.entity.superentity.map { new[$0].number } ?? 0, maximum: isRoot ? maxima.max() ?? 0 : 0,
        table: isRoot ? place.table : nil)
    }
    let before = old.tables.compactMap { place -> SchemaChange.EntityRow? in
      let isRoot = place.entity.superentity == nil
      let row = old.numbers.row(ofNumber: place.number)
      // A layout without a store has no rows; they would be those of a new store.
      if row == nil, !old.numbers.rows.isEmpty { return nil }
      return SchemaChange.EntityRow(
        number: place.number, name: row?.name ?? place.entity.name,
        parent: row?.parent ?? place.entity.superentity.map { old[$0].number } ?? 0,
        maximum: isRoot ? row?.maximum ?? 0 : 0, table: isRoot ? place.table : nil)
    }
    let kept = Set(before).intersection(rows)
    let changed = rows.filter { !kept.contains($0) }
    let gone = old.tables.map(\.number).filter { number in !kept.contains { $0.number == number } }.sorted()
    guard !changed.isEmpty || !gone.isEmpty else { return }
    work.add(.setEntities(old: gone, new: changed), in: .entities)
  }

  // MARK: Names

  /// A name that neither the store nor the new layout uses.
  func freeName(_ hint: String, taken: Set<String>) -> String {
    var number = 1
    while taken.contains("\(hint)_\(number)".foldedIdentifier) { number += 1 }
    return "\(hint)_\(number)"
  }
}
