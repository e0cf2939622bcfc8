extension InPlacePlanner {
  /// Replaces the indexes with those of the new model. An index that isn't part of the old model is kept if its columns
  /// are.
  func planIndexes(_ joins: [JoinPlan]) {
    // Nil once an old index has become it.
    var wanted: [IndexDefinition?] = newIndexes
    let places = Dictionary(grouping: newIndexes.indices, by: { newIndexes[$0].table })
    let joinsByTable = Dictionary(
      joins.compactMap { join in join.oldTable.map { ($0.foldedIdentifier, join) } },
      uniquingKeysWith: { first, _ in first })
    let oldNames = Set(oldIndexes.map(\.name.foldedIdentifier))
    let explained = Dictionary(
      grouping: oldIndexes, by: { $0.table.foldedIdentifier }).mapValues { $0.map(IndexSignature.init) }
    // Indexes that already have their final name come first, so that of two identical ones each keeps its name.
    let names = Set(newIndexes.map(\.name.foldedIdentifier))
    let modelNames = oldNames.union(names)
    func isFinal(_ index: StoreSchema.Index) -> Bool { names.contains(index.name.foldedIdentifier) }
    for index in schema.indexes.ordered(by: { isFinal($0) && !isFinal($1) }) {
      guard let sql = index.sql, let fate = fate(ofTable: index.table, joinsByTable) else { continue }
      guard case .becomes(let table, let rename, let doomed) = fate else { continue }
      if doomed.contains(where: { SQLTokens.mentions($0, in: sql) }) {
        drop(index, in: table)
        continue
      }
      guard let before = IndexSignature(definition: sql) else {
        // The model's index by name, but with a different definition, such as Core Data's over an expression or some
        // rows.
        if modelNames.contains(index.name.foldedIdentifier) { drop(index, in: table) }
        continue
      }
      let after = before.renaming(rename)
      func hasName(_ place: Int) -> Bool { newIndexes[place].name.foldedIdentifier == index.name.foldedIdentifier }
      let equals = places[table, default: []].filter { wanted[$0].map { IndexSignature($0) == after } == true }
      let place = equals.first(where: hasName) ?? equals.first
      let isExplained = explained[index.table.foldedIdentifier]?.contains(before) == true
      if let place {
        let isOfThisEra = oldNames.contains(index.name.foldedIdentifier)
        // Frameworks have used other index names; recreating an index only for its name would take long.
        if (hasName(place) || !isOfThisEra && !isFinal(index)) && !canConflictMeanwhile(newIndexes[place]) {
          wanted[place] = nil
          refuseDuplicates(newIndexes[place], isNew: false, joins)
          continue
        }
        drop(index, in: table)
      } else if isExplained || isFinal(index) {
        drop(index, in: table)
      }
    }
    for case let index? in wanted {
      if isConstraint(index) {
        refuseDuplicates(index, isNew: false, joins)
        continue
      }
      let subject = subject(of: index, joins)
      refuseDuplicates(index, isNew: true, joins)
      if defersWork, !index.isUnique, !isMade(index.table, joins) {
        work.defer(.createIndex(index), for: subject)
      } else {
        work.add(.createIndex(index), in: .createIndexes, for: subject)
      }
    }
  }

  /// Whether rows that change one after another can violate a unique index in between, even if they don't afterward:
  /// because the index applies to other rows, or because values that all change may equal others' former ones.
  private func canConflictMeanwhile(_ index: IndexDefinition) -> Bool {
    guard index.isUnique, let plan = tables[index.table] else { return false }
    let numbers = index.entityNumbers ?? []
    let isRenumbered = plan.moves.contains { move in
      guard let number = move.number, number != move.sourceNumber else { return false }
      return numbers.contains(number) || numbers.contains(move.sourceNumber)
    }
    return isRenumbered || (index.columns.map(\.name) + index.conditions.map(\.column)).contains { column in
      plan.column(named: column)?.parts.values.contains { $0 != .constant(.null) } == true
    }
  }

  /// Whether the migration creates a table: then its indexes cost almost nothing.
  private func isMade(_ table: String, _ joins: [JoinPlan]) -> Bool {
    tables[table]?.source == .new
      || joins.contains { $0.table.name == table && $0.source == .new }
  }

  /// The subject of a new index; if the model doesn't name it, that of its table or first column.
  private func subject(of index: IndexDefinition, _ joins: [JoinPlan]) -> InPlaceWork.Subject? {
    if let own = index.subject { return .init(own.entity, own.name) }
    if let join = joins.first(where: { $0.table.name == index.table }) {
      return .init(join.table.first.entity, join.table.first.relationship)
    }
    guard let plan = tables[index.table] else { return nil }
    return index.columns.first.flatMap { subject(ofColumn: $0.name, in: plan) } ?? .init(plan.root.name)
  }

  private func drop(_ index: StoreSchema.Index, in table: String) {
    work.add(.dropIndex(index.name), in: .dropIndexes, for: subject(of: index))
  }

  /// The subject of an old index, which other frameworks name for the entity, too.
  private func subject(of index: StoreSchema.Index) -> InPlaceWork.Subject? {
    func subject(_ entity: String, _ name: String) -> InPlaceWork.Subject {
      .init(correspondence.newName(ofEntity: entity) ?? entity, name)
    }
    let folded = index.name.foldedIdentifier
    if let own = oldIndexes.first(where: { $0.name.foldedIdentifier == folded })?.subject {
      return subject(own.entity, own.name)
    }
    let entity = old.tables.first { $0.table.foldedIdentifier == index.table.foldedIdentifier }?.entity
    for owner in old.model.entities where entity == nil || owner.root === entity {
      let prefix = "Z_\(owner.name)_"
      if index.name.hasPrefix(prefix) { return subject(owner.name, String(index.name.dropFirst(prefix.count))) }
    }
    return nil
  }

  private enum TableFate {
    case goes
    /// The table's new name, its columns' new names, and the old columns that are dropped.
    case becomes(String, rename: (String) -> String, doomed: [String])
  }

  /// The fate of an old table; nil if it isn't part of the old model.
  ///
  /// - Parameters:
  ///   - name: The old table's name.
  ///   - joins: The plans of join tables, by the folded names of their old tables.
  private func fate(ofTable name: String, _ joins: [String: JoinPlan]) -> TableFate? {
    let folded = name.foldedIdentifier
    if let plan = tables[becoming: name] {
      let originals = plan.removed.map { doomed in plan.renames.first { $0.value == doomed }?.key ?? doomed }
      return .becomes(plan.name, rename: plan.currentName, doomed: originals)
    }
    if let join = joins[folded], case .becomes(_, let end) = join.source {
      var names = [
        end.ownColumn.foldedIdentifier: join.table.first.column,
        end.memberColumn.foldedIdentifier: join.table.second.column,
      ]
      var doomed: [String] = []
      for (old, new) in [
        (end.orderColumn, join.table.first.orderColumn), (end.inverseOrderColumn, join.table.second.orderColumn),
      ] {
        guard let old else { continue }
        if let new { names[old.foldedIdentifier] = new } else { doomed.append(old) }
      }
      return .becomes(join.table.name, rename: { names[$0.foldedIdentifier] ?? $0 }, doomed: doomed)
    }
    return oldTables.contains(folded) ? .goes : nil
  }

  /// Whether the table itself has the index as a constraint, as in old stores.
  private func isConstraint(_ index: IndexDefinition) -> Bool {
    guard index.isUnique, IndexSignature(index).isComplete, let plan = tables[index.table],
      !plan.isRebuilt, case .becomes(let table) = plan.source, let real = schema.table(named: table)
    else { return false }
    return IndexSignature.uniqueConstraints(ofTable: real.sql).contains { columns in
      Set(columns.map { plan.currentName($0).foldedIdentifier }) == Set(index.columns.map(\.name.foldedIdentifier))
    }
  }

  /// Refuses rows whose new values violate a unique index.
  ///
  /// - Parameter isNew: Whether the old rows may violate it too. If not, only values that replace the old ones can: a
  ///   default for the missing values of an attribute that becomes required.
  private func refuseDuplicates(_ index: IndexDefinition, isNew: Bool, _ joins: [JoinPlan]) {
    guard index.isUnique, let plan = tables[index.table], let table = plan.oldTable else {
      return
    }
    let numbers = index.entityNumbers.map { wanted in
      plan.moves.filter { $0.number.map(wanted.contains) == true }.map(\.sourceNumber).sorted()
    } ?? plan.sourceNumbers
    guard !numbers.isEmpty else { return }
    var values: [RowExpression] = []
    for column in index.columns {
      guard let column = plan.column(named: column.name) else { return }
      // Values from elsewhere aren't known in advance; in that case creating the index fails.
      let value = column.value(ofEntities: numbers, isRenumbered: false)
      if case .constant(.null) = value { return }
      values.append(value)
    }
    guard let concerned = plan.rows(concernedBy: index, among: rows(numbers, of: table), numbers) else { return }
    let subject = subject(of: index, joins)
    refuseParkedDuplicates(index, of: plan, in: table, values: values, among: concerned, subject: subject)
    if !isNew, values.allSatisfy(\.isColumn), index.conditions.isEmpty { return }
    work.require(
      .duplicates(table, values: values, concerned),
      else: MigrationBlocker(
        .constraintConflict, entity: subject?.entity, property: subject?.property,
        what: "Rows of \(subject?.entity ?? plan.root.name) with the same \(subject?.property ?? "values") "
          + "as another, which must be unique",
        fix: "Make the values different or delete the surplus rows before migrating."))
  }

  /// Refuses parked objects whose values violate a unique index together with those of rows.
  private func refuseParkedDuplicates(
    _ index: IndexDefinition, of plan: TablePlan, in table: String, values: [RowExpression], among rows: RowCondition,
    subject: InPlaceWork.Subject?
  ) {
    // The conditions of a parked object are evaluated only when it is restored.
    guard index.conditions.isEmpty else { return }
    for objects in parked.objects where !parked.isElsewhere {
      guard let entity = new.model.entitiesByName[objects.entity], new[entity].table == plan.name,
        index.entityNumbers?.contains(new[entity].number) != false
      else { continue }
      let slots = index.columns.compactMap { objects.values[$0.name] }
      // Rows with a missing value never conflict.
      guard slots.count == index.columns.count else { continue }
      work.require(
        .parkedDuplicates(slot: objects.slot, valueSlots: slots, of: table, values: values, rows),
        else: MigrationBlocker(
          .constraintConflict, entity: entity.name, property: subject?.property,
          what: "Parked objects of \(entity.name) with the same \(subject?.property ?? "values") as another object, "
            + "which must be unique",
          fix: "Change the values of the other objects before migrating."))
    }
  }

  /// The condition for rows of entity numbers in an old table; all rows if it has no others.
  func rows(_ numbers: [Int], of table: String) -> RowCondition {
    let all = (movesFrom[table] ?? []).map(\.sourceNumber).sorted()
    return .entities(all == numbers ? nil : numbers)
  }
}

extension TablePlan {
  /// The rows of an old table that a unique index of the new one concerns; nil if none or unknown before the migration:
  /// creating the index then decides.
  fileprivate func rows(
    concernedBy index: IndexDefinition, among rows: RowCondition, _ numbers: [Int]
  ) -> RowCondition? {
    var rows = rows
    for condition in index.conditions {
      guard let column = column(named: condition.column), !column.isRetyped else { return nil }
      switch column.value(ofEntities: numbers, isRenumbered: false) {
      case .column(let name): rows.tests.append(.init(column: name, test: condition.test))
      case .constant(let value):
        guard condition.test.holds(for: value.asTested(by: condition.test)) else { return nil }
      default: return nil
      }
    }
    return rows
  }
}

extension SQLValue {
  /// The value in the form that a test of a uniqueness constraint compares.
  fileprivate func asTested(by test: UniquenessCondition.Test) -> StoredValue {
    switch self {
    case .null: .null
    case .integer(let number): if case .boolean = test { .boolean(number != 0) } else { .integer(number) }
    default: .string("")
    }
  }
}
