extension InPlacePlanner {
  /// Gives a table its final shape.
  func reshape(_ plan: TablePlan) {
    if unchangedTables.contains(plan.name) { return }
    let subject = InPlaceWork.Subject(plan.root.name)
    guard let definition = definitions[plan.name] else { return }
    switch plan.source {
    case .new:
      work.add(.createTable(definition), in: .create, for: subject)
    case .copied(let table):
      work.add(.createTable(definition, kept: plan.kept), in: .create, for: subject)
      let home = tables[becoming: table]
      let unknown = schema.table(named: table).map { old.unknownColumns(of: $0) } ?? []
      let kept = zip(plan.kept, unknown).map { SchemaChange.Assignment($0.name, .column($1.name)) }
      let values = (values(of: plan, in: definition) + kept).map { assignment in
        SchemaChange.Assignment(assignment.column, assignment.value.renamingColumns { home?.currentName($0) ?? $0 })
      }
      work.add(
        .copyRows(
          from: home?.name ?? table, into: plan.name, values: values, where: .entities(plan.sourceNumbers)),
        in: .create, for: subject)
    case .becomes(let table):
      for step in plan.renameSequence {
        work.add(
          .renameColumn(step.old, to: step.new, table: plan.name), in: .rename,
          for: plan.column(named: step.new)?.subject
            ?? (plan.parked.contains(step.new) ? subjectOfDroppedColumn(step.new, of: plan) : nil))
      }
      let gone = (movesFrom[table] ?? []).filter { $0.table != plan.name }
      if !gone.isEmpty {
        work.add(
          .deleteRows(plan.name, where: .entities(gone.map(\.sourceNumber).sorted())), in: .deleteRows,
          for: .init(gone[0].destination?.name ?? gone[0].source.name))
      }
      if plan.isRebuilt { rebuild(plan, definition) } else { alter(plan) }
    }
    completeReferences(of: plan)
  }

  /// The values of all columns as expressions over the old ones, with the new entity numbers.
  private func values(of plan: TablePlan, in definition: TableDefinition) -> [SchemaChange.Assignment] {
    definition.columns.map { column in
      switch column.name {
      case "Z_PK", "Z_OPT": return .init(column.name, .column(column.name))
      case "Z_ENT": return .init("Z_ENT", .renumbered("Z_ENT", numbering(of: plan)))
      default:
        let value = plan.column(named: column.name)?.value(ofEntities: plan.sourceNumbers, isRenumbered: true)
        return .init(column.name, value ?? .constant(.null))
      }
    }
  }

  private func numbering(of plan: TablePlan) -> [Int: Int] {
    Dictionary(
      plan.moves.compactMap { move in move.number.map { (move.sourceNumber, $0) } }.filter { $0.0 != $0.1 },
      uniquingKeysWith: { first, _ in first })
  }

  // MARK: Rebuilding

  private func rebuild(_ plan: TablePlan, _ definition: TableDefinition) {
    let values = values(of: plan, in: definition).map { assignment in
      SchemaChange.Assignment(assignment.column, assignment.value.renamingColumns(plan.currentName))
    }
    let causes = plan.columns.filter { $0.isRetyped || $0.hasStaleDefault } + plan.columns.filter { $0.carried == nil }
    let subject = causes.first?.subject ?? plan.doomed.first.flatMap { subjectOfDroppedColumn($0, of: plan) }
      ?? .init(plan.root.name)
    let former = plan.oldTable.flatMap { schema.table(named: $0) }?.columns ?? []
    work.add(
      .rebuildTable(
        TableRebuild(
          definition: definition,
          former: former.map { .init(name: plan.currentName($0.name), declaredType: $0.declaredType) },
          kept: plan.kept, values: values, temporaryName: temporaryName(for: plan.name))),
      in: .reshape, for: subject)
  }

  func temporaryName(for table: String) -> String {
    let taken = schema.tables.map(\.name) + definitions.keys
    return freeName("\(table)_NEW", taken: Set(taken.map(\.foldedIdentifier)))
  }

  // MARK: Step by step

  private func alter(_ plan: TablePlan) {
    let numbers = plan.sourceNumbers
    for column in plan.columns where column.carried == nil {
      work.add(
        .addColumn(
          .init(name: column.name, type: column.type), default: column.constant(forEntities: numbers) ?? .null,
          table: plan.name), in: .reshape, for: column.subject)
    }
    if converting.contains(plan.name) {
      let update = updateAtOnce(plan)
      work.updateLater(update.change, for: update.subject)
    } else if updateCount(plan) > 1 {
      let update = updateAtOnce(plan)
      work.add(update.change, in: .reshape, for: update.subject)
    } else {
      assignParts(of: plan)
      for column in plan.columns { fill(column, of: plan) }
      renumber(plan)
    }
    for column in plan.doomed {
      let drop = SchemaChange.dropColumn(column, table: plan.name)
      let subject = subjectOfDroppedColumn(column, of: plan)
      if defersWork { work.defer(drop, for: subject) } else { work.add(drop, in: .reshape, for: subject) }
    }
  }

  /// The number of statements that would successively scan the table's rows for values and entity numbers.
  func updateCount(_ plan: TablePlan) -> Int {
    let isAssigned = plan.columns.contains {
      $0.constant(forEntities: plan.sourceNumbers) == nil && !$0.parts.isEmpty
    }
    let fills = plan.columns.reduce(0) { $0 + Set($1.fills.values).count }
    let isRenumbered = !numbering(of: plan).isEmpty
      || plan.columns.contains { !$0.renumbering.isEmpty && $0.carried != nil }
    return (isAssigned ? 1 : 0) + fills + (isRenumbered ? 1 : 0)
  }

  /// The statement that sets all values and entity numbers.
  private func updateAtOnce(_ plan: TablePlan) -> (change: SchemaChange, subject: InPlaceWork.Subject?) {
    let numbers = plan.sourceNumbers
    let numbering = numbering(of: plan)
    var assignments = plan.columns.compactMap { column -> SchemaChange.Assignment? in
      // The new column's default already provides the value.
      if column.constant(forEntities: numbers) != nil { return nil }
      let value = column.value(ofEntities: numbers, isRenumbered: true).renamingColumns(plan.currentName)
      return value == .column(column.name) ? nil : SchemaChange.Assignment(column.name, value)
    }
    if !numbering.isEmpty { assignments.insert(.init("Z_ENT", .renumbered("Z_ENT", numbering)), at: 0) }
    var rows = Set(numbering.keys)
    for column in plan.columns {
      rows.formUnion(column.parts.keys)
      rows.formUnion(column.fills.keys)
      if !column.renumbering.isEmpty, column.carried != nil { rows.formUnion(numbers) }
    }
    let affected = rows.sorted()
    return (
      .update(plan.name, set: assignments, where: .entities(affected == numbers ? nil : affected)),
      plan.columns.first { !$0.parts.isEmpty || !$0.fills.isEmpty }?.subject
    )
  }

  /// Sets values that some rows take from elsewhere. A single statement, because a column may take the value that
  /// another one loses.
  private func assignParts(of plan: TablePlan) {
    let columns = plan.columns.filter { $0.constant(forEntities: plan.sourceNumbers) == nil && !$0.parts.isEmpty }
    guard !columns.isEmpty else { return }
    let rows = Set(columns.flatMap { $0.parts.keys }).sorted()
    let assignments = columns.map { column in
      SchemaChange.Assignment(
        column.name,
        column.value(ofEntities: rows, isRenumbered: false).renamingColumns(plan.currentName))
    }
    work.add(
      .update(plan.name, set: assignments, where: .entities(rows == plan.sourceNumbers ? nil : rows)), in: .reshape,
      for: columns.first?.subject)
  }

  private func fill(_ column: ColumnPlan, of plan: TablePlan) {
    var groups: [SQLValue: [Int]] = Dictionary()
    for (number, value) in column.fills { groups[value, default: []].append(number) }
    for (value, numbers) in groups.ordered(by: { $0.value.lexicographicallyPrecedes($1.value) }) {
      let rows = numbers.sorted()
      work.add(
        .update(
          plan.name, set: [.init(column.name, .constant(value))],
          where: RowCondition(entityNumbers: rows == plan.sourceNumbers ? nil : rows, missing: [column.name])),
        in: .reshape, for: column.subject)
    }
  }

  private func renumber(_ plan: TablePlan) {
    let numbering = numbering(of: plan)
    var assignments = plan.columns.filter { !$0.renumbering.isEmpty && $0.carried != nil }
      .map { SchemaChange.Assignment($0.name, .renumbered($0.name, $0.renumbering)) }
    let rows = assignments.isEmpty ? numbering.keys.sorted() : nil
    if !numbering.isEmpty { assignments.insert(.init("Z_ENT", .renumbered("Z_ENT", numbering)), at: 0) }
    guard !assignments.isEmpty else { return }
    work.add(.update(plan.name, set: assignments, where: .entities(rows)), in: .renumber)
  }

  /// The property of a column that is dropped.
  private func subjectOfDroppedColumn(_ column: String, of plan: TablePlan) -> InPlaceWork.Subject? {
    guard let table = plan.oldTable else { return nil }
    let original = plan.renames.first { $0.value == column }?.key ?? column.foldedIdentifier
    for place in old.tables where place.table == table {
      for candidate in place.columns where candidate.name.foldedIdentifier == original {
        guard let declaring = place.entity.property(named: candidate.property)?.declaringEntity else { continue }
        return .init(correspondence.newName(ofEntity: declaring) ?? declaring, candidate.property)
      }
    }
    return nil
  }
}
