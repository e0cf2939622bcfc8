extension InPlacePlanner {
  /// Plans each table of the new layout.
  func planTables() -> [TablePlan] {
    let roots = new.tables.filter { $0.entity.superentity == nil }
    var feeders: [String: Set<String>] = Dictionary()
    for move in moves {
      if let table = move.table { feeders[table, default: []].insert(move.sourceTable) }
    }
    for root in roots where (feeders[root.table]?.count ?? 0) > 1 {
      let tables = feeders[root.table]?.sorted().joined(separator: " and ") ?? ""
      work.blockers.append(
        MigrationBlocker(
          entity: root.entity.name,
          what: "Rows of \(tables) would be merged into one table, where their keys may collide.",
          fix: "Give the hop a mapping model, or keep the entities separate."))
    }
    guard work.blockers.isEmpty else { return [] }
    let heirs = heirs(of: feeders)
    var plans: [TablePlan] = []
    for root in roots {
      let source: TablePlan.Source
      if let table = feeders[root.table]?.first {
        source = heirs[table] == root.table ? .becomes(table) : .copied(from: table)
      } else {
        source = .new
      }
      var plan = TablePlan(
        root: root.entity, name: root.table, source: source, moves: movesInto[root.table] ?? [])
      if source != .new { planColumns(of: &plan) }
      plans.append(plan)
    }
    return plans
  }

  /// The new table that each old table becomes: that of its own root entity, otherwise the first that takes rows from
  /// it.
  private func heirs(of feeders: [String: Set<String>]) -> [String: String] {
    var heirs: [String: String] = Dictionary()
    for (table, sources) in feeders.sorted(on: \.key) {
      for source in sources where heirs[source] == nil { heirs[source] = table }
    }
    for move in moves where move.source.superentity == nil {
      if let table = move.table { heirs[move.sourceTable] = table }
    }
    return heirs
  }

  /// Drops old entity tables that don't become new tables, and join tables from which no new one comes.
  func dropTables(except joins: [JoinPlan]) {
    let kept = Set(tables.compactMap { if case .becomes(let table) = $0.source { table } else { nil } })
    for place in old.tables
    where place.entity.superentity == nil && !kept.contains(place.table) && !old.absent.contains(place.entity.name) {
      work.add(.dropTable(place.table), in: .dropTables, for: .init(place.entity.name))
    }
    let keptJoins = Set(joins.compactMap(\.oldTable))
    for join in old.joinTables where !keptJoins.contains(join.name) {
      work.add(.dropTable(join.name), in: .dropTables, for: .init(join.first.entity, join.first.relationship))
    }
  }

  func renameTables(_ joins: [JoinPlan]) {
    var renames: [RenameSequence.Rename] = []
    var subjects: [String: InPlaceWork.Subject] = Dictionary()
    var made: [String] = []
    for plan in tables {
      if case .becomes(let table) = plan.source {
        renames.append(.init(old: table, new: plan.name))
        subjects[table] = .init(plan.root.name)
      } else {
        made.append(plan.name)
      }
    }
    for join in joins {
      if let table = join.oldTable {
        renames.append(.init(old: table, new: join.table.name))
        subjects[table] = .init(join.table.first.entity, join.table.first.relationship)
      } else {
        made.append(join.table.name)
      }
    }
    let unknown = schema.tables.map(\.name).filter { !oldTables.contains($0.foldedIdentifier) }
    let all = Set((schema.tables.map(\.name) + renames.map(\.new) + made).map(\.foldedIdentifier))
    // A table that isn't part of the old model is renamed on a conflict, and kept.
    let wanted = Set((renames.map(\.new) + made).map(\.foldedIdentifier))
    for table in unknown where wanted.contains(table.foldedIdentifier) {
      renames.append(.init(old: table, new: freeName("\(table)_KEPT", taken: all)))
    }
    let staying = unknown + renames.map(\.old)
    var number = 0
    for step in RenameSequence.ordered(
      renames, taken: staying,
      freeName: {
        number += 1
        return freeName("Z_MOVING_\(number)", taken: all)
      })
    {
      work.add(.renameTable(step.old, to: step.new), in: .rename, for: subjects[step.old])
    }
  }
}

// MARK: - Later conversions

/// Values that can be converted in parts after the migration, while programs read and write the store.
extension InPlacePlanner {
  /// The tables whose values can be converted like that, by their new names, with their present names.
  ///
  /// Converted are entity numbers, values that move to another column or another type, replacements of missing values,
  /// and values that are cleared. Nothing is converted later if the migration must read the new values itself, because
  /// it moves pairs of relationships or restores parked values.
  var convertibleTables: [String: String] {
    guard work.blockers.isEmpty, parked.values.isEmpty, parked.pairs.isEmpty, parked.objects.isEmpty,
      new.possibleDerivedColumns.isEmpty, !schema.hasTable(named: OldValuesLayout.valueTable),
      !work.changes.contains(where: \.change.movesPairs)
    else { return Dictionary() }
    return tables.reduce(into: Dictionary()) { found, plan in
      if case .becomes(let table) = plan.source, isConvertible(plan, from: table) { found[plan.name] = table }
    }
  }

  private func isConvertible(_ plan: TablePlan, from name: String) -> Bool {
    guard let table = schema.table(named: name) else { return false }
    let retyped = plan.columns.filter(\.isRetyped)
    let isRebuiltForAnother = plan.isRebuilt
      && (retyped.isEmpty || plan.columns.contains(where: \.hasStaleDefault) || hasStaleConstraints(plan, table))
    guard !isRebuiltForAnother, updateCount(plan) > 0 || !retyped.isEmpty, table.generatedColumns.isEmpty,
      // Triggers fire for changes of a table, not for those of a view.
      !schema.mentionsElsewhere(name), !new.fullTextIndexes.contains(where: { $0.table == plan.name }),
      // The view would hide the defaults of columns that others added.
      old.unknownColumns(of: table).allSatisfy({ ParkedColumn.isOne($0.name) || LeftOverColumn.isOne($0.name) })
    else { return false }
    let changes = work.changes.map(\.change)
    let isReadElsewhere = changes.contains { change in
      switch change {
      case .readFiles(let other, _, _): other == name
      case .copyRows(let source, let other, _, _): [plan.name, name].contains(source) || other == plan.name
      default: false
      }
    }
    return !isReadElsewhere && !hasIndexes(ofConverted: retyped.map(\.name), plan, name)
  }

  /// Whether an index doesn't allow a conversion: one of a column that gets another type, or a unique one that concerns
  /// converted values, which would be equal to former ones of other rows in between.
  private func hasIndexes(ofConverted retyped: [String], _ plan: TablePlan, _ table: String) -> Bool {
    let converted = Set(
      plan.columns.filter { !$0.parts.isEmpty || !$0.fills.isEmpty || !$0.renumbering.isEmpty }.map(\.name) + retyped)
    let former = Set(plan.columns.filter { retyped.contains($0.name) }.compactMap(\.carried))
    let isNumbered = plan.moves.contains { move in move.number != nil && move.number != move.sourceNumber }
    return newIndexes.contains { index in
      guard index.table == plan.name else { return false }
      let columns = Set(index.columns.map(\.name) + index.conditions.map(\.column))
      if !columns.isDisjoint(with: retyped) { return true }
      return index.isUnique
        && (!columns.isDisjoint(with: converted) || isNumbered && index.entityNumbers != nil)
    } || schema.indexes.contains { index in
      guard index.table.foldedIdentifier == table.foldedIdentifier, let sql = index.sql else { return false }
      return former.contains { SQLTokens.mentions($0, in: sql) }
    }
  }
}

extension SchemaChange {
  /// Whether the change moves pairs of relationships, and reads entity numbers for that.
  fileprivate var movesPairs: Bool {
    switch self {
    case .setAside, .join, .setKeys, .takeEntityNumbers, .assignPositions: true
    default: false
    }
  }
}
