import Persist
import PersistPostgreSQL

/// Derives the expansion of a store from the two ways between its models.
///
/// Pure. Each change of the ordinary migration is either something that can be there beside what the first model has,
/// or can wait until no program has the first model any longer, or is refused. The way back says what rows of programs
/// with the second model need in the columns that only the first has.
struct ExpansionPlanner {
  /// The prefix of the names of indexes whose final name the first model uses.
  static let temporaryPrefix = "persist_online_"

  let forward: OnlineSurvey
  let backward: OnlineSurvey
  private(set) var expansion = OnlineExpansion()
  private(set) var refusals: [OnlineRefusal] = []
  /// The old names of renamed join tables, by their new names, and the columns.
  private var joins: [String: (first: String, columns: [String: String])] = [:]

  init(_ forward: OnlineSurvey, _ backward: OnlineSurvey) {
    (self.forward, self.backward) = (forward, backward)
    if !forward.isInferred { refuse(nil, nil, Self.mapped) }
    for blocker in forward.blockers { refuse(blocker.entity, blocker.property, blocker.what) }
    for operation in forward.operations {
      if let reason = Self.reason(against: operation) { refuse(operation.entity, operation.property, reason) }
    }
    examineEntities()
    requireValues()
    for change in forward.changes { plan(change) }
    for change in backward.changes { planReturn(change) }
    addJoins()
    addKeys()
    addIndexes()
    addDerivedAttributes()
  }

  mutating func refuse(_ entity: String?, _ property: String?, _ reason: String) {
    let refusal = OnlineRefusal(entity, property, reason)
    // One reason for each place is enough.
    guard !refusals.contains(where: { $0.entity == entity && $0.property == property }) else { return }
    refusals.append(refusal)
  }

  // MARK: The way there

  private mutating func plan(_ change: OnlineSurvey.Change) {
    let (entity, property) = (change.entity, change.property)
    switch change.change {
    case .dropTrigger, .dropView, .dropIndex, .dropTable, .dropColumn, .setEntities, .deleteHistory: break
    case .createIndex: break
    case .createTable(let table, let kept):
      if kept.isEmpty { expansion.tables.append(table) } else { refuse(entity, property, Self.movedRows) }
      if Places(forward.map).columns[table.name.foldedIdentifier] != nil {
        refuse(entity, property, "Its table '\(table.name)' has another meaning in the old model.")
      }
    case .renameTable(let old, let new):
      guard forward.map.joinTables.contains(where: { $0.name == old }) else {
        return refuse(entity, property, Self.renamedTable)
      }
      joins[new] = (old, joins[new]?.columns ?? [:])
    case .renameColumn(let old, let new, let table):
      if forward.planned.joinTables.contains(where: { $0.name == table }) {
        joins[table, default: (table, [:])].columns[new] = old
      } else if !ParkedColumn.isOne(new) {
        pair(old, new, of: table, entity, property)
      }
    case .addColumn(let column, let value, let table): add(column, .constant(value), to: table, entity, property)
    case .rebuildTable(let rebuild): plan(rebuild, entity, property)
    case .update(let table, let assignments, let rows):
      for assignment in assignments { fill(assignment, rows, of: table, .second, entity, property) }
    case .deleteRows, .copyRows, .renumberEntities: refuse(entity, property, Self.movedRows)
    case .sever, .removePairs, .setAside, .join, .setKeys, .takeEntityNumbers, .assignPositions, .forget, .readFiles:
      refuse(entity, property, Self.movedPairs)
    }
  }

  private mutating func pair(_ old: String, _ new: String, of table: String, _ entity: String?, _ property: String?) {
    let columns = Places(forward.map).columns[table.foldedIdentifier] ?? []
    let type = forward.planned.layout[table]?.first { $0.name.foldedIdentifier == new.foldedIdentifier }?.type
    guard let type, columns.contains(old.foldedIdentifier), !columns.contains(new.foldedIdentifier) else {
      return refuse(entity, property, Self.reusedName)
    }
    expansion.pairs.append(.init(table: table, first: old, second: new, type: type))
  }

  private mutating func add(
    _ column: TableDefinition.Column, _ value: RowExpression, to table: String, _ entity: String?, _ property: String?
  ) {
    let columns = Places(forward.map).columns[table.foldedIdentifier] ?? []
    guard !columns.contains(column.name.foldedIdentifier) else { return refuse(entity, property, Self.reusedName) }
    guard !forward.planned.joinTables.contains(where: { $0.name == table }) else {
      return refuse(entity, property, Self.positions)
    }
    switch value {
    case .constant(let value): expansion.columns.append(.init(table: table, column: column, value: value))
    default:
      expansion.columns.append(.init(table: table, column: column, value: .null))
      fill(column, value, nil, of: table, .second, entity, property)
    }
  }

  private mutating func plan(_ rebuild: TableRebuild, _ entity: String?, _ property: String?) {
    let former = Set(rebuild.former.map(\.name.foldedIdentifier))
    for column in rebuild.definition.columns {
      let name = column.name.foldedIdentifier
      let value = rebuild.values.first { $0.column.foldedIdentifier == name }?.value ?? .column(column.name)
      if former.contains(name) {
        if !value.isOwn(column.name) || isRetyped(column, rebuild) { refuse(entity, property, Self.otherValues) }
      } else {
        add(column, value, to: rebuild.definition.name, entity, property)
      }
    }
  }

  private func isRetyped(_ column: TableDefinition.Column, _ rebuild: TableRebuild) -> Bool {
    guard !["z_pk", "z_ent", "z_opt"].contains(column.name.foldedIdentifier) else { return false }
    let present = rebuild.former.first { $0.name.foldedIdentifier == column.name.foldedIdentifier }
    return present.map { $0.declaredType != column.type.rawValue } ?? false
  }

  // MARK: Values for rows of other programs

  private mutating func fill(
    _ assignment: SchemaChange.Assignment, _ rows: RowCondition, of table: String, _ side: OnlineExpansion.Side,
    _ entity: String?, _ property: String?
  ) {
    if case .renumbered(_, let numbers) = assignment.value, numbers.allSatisfy({ $0.key == $0.value }) { return }
    let map = side == .second ? forward.planned : backward.planned
    let other = Places(side == .second ? forward.map : backward.map).columns[table.foldedIdentifier] ?? []
    let placed = map.layout[table]?.first { $0.name.foldedIdentifier == assignment.column.foldedIdentifier }
    guard let placed, !other.contains(placed.name.foldedIdentifier), rows.tests.isEmpty else {
      return refuse(entity, property, Self.otherValues)
    }
    let column = TableDefinition.Column(name: placed.name, type: placed.type)
    fill(column, assignment.value, rows.entityNumbers, of: table, side, entity, property)
  }

  private mutating func fill(
    _ column: TableDefinition.Column, _ value: RowExpression, _ numbers: [Int]?, of table: String,
    _ side: OnlineExpansion.Side, _ entity: String?, _ property: String?
  ) {
    func add(_ value: SQLValue, _ numbers: [Int]?) {
      guard value != .null else { return }
      expansion.fills.append(.init(table: table, column: column, value: value, numbers: numbers, side: side))
    }
    switch value {
    case .constant(let value): add(value, numbers)
    case .filled(.constant(.null), let value): add(value, numbers)
    case .byEntity(let cases, .constant(let otherwise)):
      guard otherwise == .null || numbers == nil else { return refuse(entity, property, Self.otherValues) }
      for part in cases {
        guard case .constant(let value) = part.value else { return refuse(entity, property, Self.otherValues) }
        add(value, numbers.map { Array(Set($0).intersection(part.numbers)).sorted() } ?? part.numbers)
      }
      add(otherwise, nil)
    default: refuse(entity, property, Self.otherValues)
    }
  }

  // MARK: The way back

  private mutating func planReturn(_ change: OnlineSurvey.Change) {
    let (entity, property) = (change.entity, change.property)
    switch change.change {
    case .renameColumn(let old, let new, let table) where !ParkedColumn.isOne(new):
      guard !backward.planned.joinTables.contains(where: { $0.name == table }) else { return }
      let isMirrored = expansion.pairs.contains { $0.table == table && $0.first == new && $0.second == old }
      if !isMirrored { refuse(entity, property, Self.oneWay) }
    case .addColumn(let column, let value, let table):
      fill(column, .constant(value), nil, of: table, .first, entity, property)
    case .rebuildTable(let rebuild):
      let former = Set(rebuild.former.map(\.name.foldedIdentifier))
      for column in rebuild.definition.columns {
        let value = rebuild.values.first { $0.column.foldedIdentifier == column.name.foldedIdentifier }?.value
        if former.contains(column.name.foldedIdentifier) {
          if value?.isOwn(column.name) == false { refuse(entity, property, Self.otherValues) }
        } else if let value {
          fill(column, value, nil, of: rebuild.definition.name, .first, entity, property)
        }
      }
    case .update(let table, let assignments, let rows):
      for assignment in assignments { fill(assignment, rows, of: table, .first, entity, property) }
    case .deleteRows, .copyRows, .renumberEntities: refuse(entity, property, Self.movedRows)
    case .sever, .removePairs, .setAside, .join, .setKeys, .takeEntityNumbers, .assignPositions, .readFiles:
      refuse(entity, property, Self.movedPairs)
    default: break
    }
  }

  // MARK: Join tables, keys and indexes

  private mutating func addJoins() {
    for (name, join) in joins.sorted(by: { $0.key < $1.key }) {
      let definition = forward.planned.tableDefinitions.first { $0.name == name }
      guard let definition, join.first != name else {
        refuse(forward.planned.joinTables.first { $0.name == name }?.first.entity, nil, Self.reusedName)
        continue
      }
      var columns = join.columns
      for column in definition.columns where columns[column.name] == nil { columns[column.name] = column.name }
      let known = Places(forward.map).columns[join.first.foldedIdentifier] ?? []
      guard columns.values.allSatisfy({ known.contains($0.foldedIdentifier) }),
        known.count == definition.columns.count
      else {
        refuse(forward.planned.joinTables.first { $0.name == name }?.first.entity, nil, Self.positions)
        continue
      }
      expansion.joins.append(.init(first: join.first, second: definition, columns: columns))
    }
  }

  private mutating func addKeys() {
    let present = forward.map.foreignKeys
    let places = Places(forward.map)
    for key in forward.planned.foreignKeys where !present.contains(key) {
      if places.columns[key.table.foldedIdentifier]?.contains(key.column.foldedIdentifier) == true {
        refuse(nil, "\(key.table).\(key.column)", "Its references have other targets or another effect.")
      } else {
        expansion.keys.append(key)
      }
    }
  }

  private mutating func addIndexes() {
    let taken = Set(forward.map.indexDefinitions.map(\.name.foldedIdentifier))
    for change in forward.changes {
      guard case .createIndex(let index) = change.change else { continue }
      let isTaken = taken.contains(index.name.foldedIdentifier)
      expansion.indexes.append(
        .init(index: index, temporaryName: isTaken ? Self.temporaryPrefix + index.name : nil))
    }
  }

  /// Triggers compute the values of each model's derived attributes, renamed ones included.
  private mutating func addDerivedAttributes() {
    let derived = forward.planned.possibleDerivedColumns
    func isDerived(_ table: String, _ column: String) -> Bool {
      derived.contains { $0.table == table && $0.name == column }
    }
    for pair in expansion.pairs where isDerived(pair.table, pair.second) {
      expansion.columns.append(
        .init(table: pair.table, column: .init(name: pair.second, type: pair.type), value: .null))
    }
    expansion.pairs.removeAll { isDerived($0.table, $0.second) }
    let added = Set(expansion.columns.map { [$0.table, $0.column.name] })
    expansion.derived = derived.filter { added.contains([$0.table, $0.name]) }
    for table in forward.planned.tables {
      for column in table.columns where added.contains([table.table, column.name]) {
        guard case .attribute(let attribute) = column.role, attribute.isDerived,
          !isDerived(table.table, column.name)
        else { continue }
        refuse(table.entity.name, column.property, "The server can't compute its derivation.")
      }
    }
  }
}

extension RowExpression {
  /// Whether the value is that of a column itself.
  fileprivate func isOwn(_ column: String) -> Bool {
    switch self {
    case .column(let name): name.foldedIdentifier == column.foldedIdentifier
    case .renumbered(let name, let numbers):
      name.foldedIdentifier == column.foldedIdentifier && numbers.allSatisfy { $0.key == $0.value }
    default: false
    }
  }
}
