/// Values that can be converted in parts after the migration, while programs read and write the store.
extension InPlacePlanner {
  /// The tables whose values can be converted like that, by their new names, with their present names.
  ///
  /// Converted are entity numbers, values that move to another column or another type, replacements of missing values,
  /// and values that are cleared. Nothing is converted later if the migration must read the new values itself, because
  /// it moves pairs of relationships or restores parked values.
  var convertibleTables: [String: String] {
    guard work.blockers.isEmpty, parked.values.isEmpty, parked.pairs.isEmpty, parked.objects.isEmpty,
      new.possibleDerivedColumns.isEmpty, schema.table(named: OldValuesLayout.valueTable) == nil,
      !work.changes.contains(where: \.change.movesPairs)
    else { return [:] }
    return tables.reduce(into: [:]) { found, plan in
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
