import Foundation

extension InPlacePlanner {
  /// Determines the source of each column of a new table, and the fate of the old table's columns.
  func planColumns(of plan: inout TablePlan) {
    guard let table = plan.oldTable, let real = schema.table(named: table) else { return }
    if let columns = unchangedColumns(of: plan, in: real) {
      plan.columns = columns
      unchangedTables.insert(plan.name)
      return
    }
    let uses = newUses[plan.root]
    let oldUses = self.oldUses[plan.moves.first?.source.root ?? plan.root]
    let withDefault = real.columnsWithDefault
    var carried = Set<String>()
    for column in new.layout[plan.name] ?? [] {
      let uses = uses[column.name.foldedIdentifier] ?? Dictionary()
      plan.columns.append(
        self.plan(column, uses: uses, oldUses: oldUses, of: plan, in: real, withDefault: withDefault, carried: &carried)
      )
    }
    guard case .becomes = plan.source else {
      plan.kept = copies(of: old.unknownColumns(of: real), besides: plan.columns)
      return
    }
    decideNames(of: &plan, in: real, carried: carried)
    plan.isRebuilt = plan.columns.contains { $0.isRetyped || $0.hasStaleDefault } || hasStaleConstraints(plan, real)
      || takesSeveralPasses(plan)
  }

  /// The columns of a table that remains as it is; nil if anything about it changes.
  private func unchangedColumns(of plan: TablePlan, in real: StoreSchema.Table) -> [ColumnPlan]? {
    guard unchanged.contains(plan.root), plan.source == .becomes(plan.name), !converting.contains(plan.name),
      let columns = new.layout[plan.name], columns == old.layout[plan.name],
      // With the three columns that every table has.
      real.columns.count == columns.count + 3,
      columns.allSatisfy({ column in real.column(named: column.name).map(column.type.isDeclared) == true }),
      real.columnsWithDefault.isEmpty, !hasStaleConstraints(plan, real)
    else { return nil }
    return columns.map { ColumnPlan(name: $0.name, type: $0.type, subject: nil, carried: $0.name) }
  }

  /// The entity and property of a new table's column.
  func subject(ofColumn column: String, in plan: TablePlan) -> InPlaceWork.Subject? {
    guard unchangedTables.contains(plan.name) else { return plan.column(named: column)?.subject }
    let uses = newUses[plan.root][column.foldedIdentifier] ?? Dictionary()
    return uses.min { $0.key < $1.key }.map { subject(of: $0.value, entity: $0.key) }
  }

  private func plan(
    _ column: TableMap.PlacedColumn, uses: [String: ColumnUse], oldUses: [String: [String: ColumnUse]],
    of plan: TablePlan, in table: StoreSchema.Table, withDefault: Set<String>,
    carried: inout Set<String>
  ) -> ColumnPlan {
    var values: [(move: RowMove, value: ColumnOrigin)] = []
    for move in plan.moves {
      guard let destination = move.destination, let use = uses[destination.name] else { continue }
      values.append((move, origin(of: use, for: destination)))
    }
    let firstUse = uses.min { $0.key < $1.key }
    let subject = firstUse.map { self.subject(of: $0.value, entity: $0.key) }
    var result = ColumnPlan(name: column.name, type: column.type, subject: subject)
    result.isPartial = new.model.hierarchy(of: plan.root).contains { !$0.isAbstract && uses[$0.name] == nil }
    let olds = values.compactMap { $0.value.oldColumn }
    if let choice = olds.first(where: { $0.foldedIdentifier == column.name.foldedIdentifier }) ?? olds.first,
      let real = table.column(named: choice),
      // A converted value is written beside the former one, whose column is dropped afterward.
      column.type.isDeclared(by: real) || !converting.contains(plan.name),
      carried.insert(choice.foldedIdentifier).inserted
    {
      result.carried = choice
      result.isRetyped = !column.type.isDeclared(by: real)
      result.hasStaleDefault = result.isPartial && withDefault.contains(choice.foldedIdentifier)
    }
    let base = result.carried.map { RowExpression.column($0) } ?? .constant(.null)
    for (move, value) in values {
      let part = value.expression
      if part != base { result.parts[move.sourceNumber] = part }
      if let fill = value.fill { result.fills[move.sourceNumber] = fill }
      if value.isEntityNumber { result.renumbering = numbering.filter { $0.key != $0.value } }
    }
    // Clears rows of entities for which the carried column held something that is stored elsewhere now, or its default.
    if let choice = result.carried {
      let users = oldUses[choice.foldedIdentifier] ?? Dictionary()
      for move in plan.moves where users[move.source.name] != nil || result.hasStaleDefault {
        if !values.contains(where: { $0.move.sourceNumber == move.sourceNumber }) {
          result.parts[move.sourceNumber] = .constant(.null)
        }
      }
    }
    return result
  }

  private func subject(of use: ColumnUse, entity: String) -> InPlaceWork.Subject {
    switch use {
    case .attribute(_, let property, _):
      .init(new.model.entitiesByName[entity]?.property(named: property)?.declaringEntity ?? entity, property)
    case .reference(let reference):
      .init(
        new.model.entitiesByName[reference.entity]?.property(named: reference.relationship.name)?.declaringEntity
          ?? entity, reference.relationship.name)
    }
  }

  // MARK: Old columns

  /// Old columns are renamed, dropped, or kept if they aren't part of the old model.
  private func decideNames(of plan: inout TablePlan, in table: StoreSchema.Table, carried: Set<String>) {
    let unknown = Set(old.unknownColumns(of: table).map(\.name))
    let wanted = Set(plan.columns.map(\.name.foldedIdentifier))
    var taken = wanted.union(table.columns.map(\.name.foldedIdentifier))
    var renames: [RenameSequence.Rename] = []
    for column in plan.columns {
      if let old = column.carried { renames.append(.init(old: old, new: column.name)) }
    }
    for column in table.columns
    where !carried.contains(column.name.foldedIdentifier)
      && !["z_pk", "z_ent", "z_opt"].contains(column.name.foldedIdentifier)
    {
      var name = column.name
      let isLeftOver = LeftOverColumn.isOne(name)
      let isKept = unknown.contains(name)
      if !isKept, !isLeftOver, !plan.reads(column.name), remains(column.name, of: plan, in: table) {
        let new = freeName(ParkedColumn.prefix, taken: takenByParkedColumns.union(taken))
        taken.insert(new.foldedIdentifier)
        renames.append(.init(old: column.name, new: new))
        plan.parked.append(new)
        plan.kept.append(.init(name: new, declaredType: column.declaredType))
        work.keptColumns.append(
          .init(table: table.name, column: column.name, newTable: plan.name, newColumn: new))
        continue
      }
      // A column dropped later releases its name, which the next version may need.
      if wanted.contains(name.foldedIdentifier) || defersWork && !isKept && !isLeftOver {
        name = freeName(
          isKept ? "\(name)_KEPT" : defersWork ? LeftOverColumn.prefix : "Z_OLD", taken: taken)
        taken.insert(name.foldedIdentifier)
        renames.append(.init(old: column.name, new: name))
      }
      if isKept {
        plan.kept.append(.init(name: name, declaredType: column.declaredType))
      } else {
        plan.doomed.append(name)
      }
    }
    for rename in renames { plan.renames[rename.old.foldedIdentifier] = rename.new }
    var number = 0
    plan.renameSequence = RenameSequence.ordered(renames, taken: table.columns.map(\.name)) {
      number += 1
      return freeName("Z_MOVING_\(number)", taken: taken)
    }
  }

  /// Whether a column that the new model doesn't have remains under another name: that of an attribute, on which no
  /// constraint of the table depends.
  private func remains(_ column: String, of plan: TablePlan, in table: StoreSchema.Table) -> Bool {
    guard keepsRemovedColumns, let source = plan.moves.first?.source,
      let uses = oldUses[source.root][column.foldedIdentifier], !uses.isEmpty
    else { return false }
    let clauses = TableClauses(table.sql)
    return uses.values.allSatisfy { use in
      guard case .attribute(let attribute, _, _) = use else { return false }
      return !attribute.isDerived && !attribute.storesMarkedBytes
    } && !clauses.restricts(column) && !clauses.isRequired(column)
  }

  /// The names of all columns with parked values, in whatever table.
  private var takenByParkedColumns: Set<String> {
    let present = schema.tables.flatMap(\.columns).map(\.name.foldedIdentifier).filter(ParkedColumn.isOne)
    return Set(present + work.keptColumns.map(\.newColumn.foldedIdentifier))
  }

  /// The same columns for a new table, under names that its own columns don't have.
  private func copies(of columns: [StoreSchema.Column], besides own: [ColumnPlan]) -> [StoreSchema.Column] {
    let wanted = Set(own.map(\.name.foldedIdentifier))
    let taken = wanted.union(columns.map(\.name.foldedIdentifier))
    return columns.map { column -> StoreSchema.Column in
      guard wanted.contains(column.name.foldedIdentifier) else { return column }
      return .init(name: freeName("\(column.name)_KEPT", taken: taken), declaredType: column.declaredType)
    }
  }

  /// Whether changing the table step by step would scan its rows more than once: then it is rebuilt in a single pass.
  private func takesSeveralPasses(_ plan: TablePlan) -> Bool {
    let drops = defersWork ? 0 : plan.doomed.count
    return drops > (canDropColumns ? 1 : 0) || drops > 0 && updateCount(plan) > 0
  }

  /// Whether the table was created with a constraint that the new model lacks.
  func hasStaleConstraints(_ plan: TablePlan, _ table: StoreSchema.Table) -> Bool {
    let present = IndexSignature.uniqueConstraints(ofTable: table.sql)
    guard !present.isEmpty else { return false }
    let wanted = newIndexes.filter { $0.isUnique && $0.table == plan.name && IndexSignature($0).isComplete }
      .map { Set($0.columns.map(\.name.foldedIdentifier)) }
    return present.contains { columns in
      !wanted.contains(Set(columns.map { plan.currentName($0).foldedIdentifier }))
    }
  }
}
