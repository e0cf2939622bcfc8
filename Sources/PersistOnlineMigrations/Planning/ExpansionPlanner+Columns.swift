import Persist
import PersistPostgreSQL

/// A table or a column of the second model whose name has another meaning in the first.
enum PlaceCollision: Hashable {
  /// - Parameter actual: The table that contains the rows already; nil for a new one.
  case table(rule: String, actual: String?)
  case column(table: String, rule: String)
}

extension ExpansionPlanner {
  /// Places the columns of tables that both models have.
  mutating func planColumns() {
    for (table, columns) in forward.planned.layout.sorted(by: { $0.key < $1.key }) {
      guard let present = forward.map.layout[table] else { continue }
      let first = Dictionary(present.map { ($0.name.foldedIdentifier, $0) }, uniquingKeysWith: { first, _ in first })
      for column in columns { place(column, of: table, beside: first) }
      let own = Set(columns.map(\.name.foldedIdentifier))
      for column in present where !own.contains(column.name.foldedIdentifier) { keep(column, of: table) }
    }
  }

  /// Places a column of the second model.
  ///
  /// - Parameter first: The columns of the first model, by their folded names.
  private mutating func place(
    _ column: TableMap.PlacedColumn, of table: String, beside first: [String: TableMap.PlacedColumn]
  ) {
    let name = column.name
    if isReference(name, in: table) || isComposite(name, in: table, .second) { return }
    if isFormula(name, in: table, .second) {
      guard first[name.foldedIdentifier] == nil else { return collide(.column(table: table, rule: name)) }
      let definition = TableDefinition.Column(name: name, type: column.type)
      return expansion.columns.append(.init(table: table, column: definition, value: .null))
    }
    let subject = subject(of: name, in: table, forward.planned)
    guard let value = flows.forward[table, name] else {
      return refuse(subject?.entity, subject?.property, because: Self.otherValues)
    }
    let own = first[name.foldedIdentifier]
    if value.isOwn(name), own?.type == column.type, flows.backward[table, name]?.isOwn(name) == true,
      !needsOwnDerivation(name, of: table)
    {
      return
    }
    let sources = value.columns
    guard sources.count <= 1 else { return refuse(subject?.entity, subject?.property, because: Self.otherValues) }
    guard own == nil else { return collide(.column(table: table, rule: name)) }
    let definition = TableDefinition.Column(name: name, type: column.type)
    guard let source = sources.first, let old = first[source] else {
      if case .constant(let constant) = value {
        expansion.columns.append(.init(table: table, column: definition, value: constant))
      } else {
        expansion.columns.append(.init(table: table, column: definition, value: .null))
        fill(definition, with: value, of: table, for: .second, subject)
      }
      return
    }
    guard let back = flows.backward[table, old.name], back.columns == [name.foldedIdentifier] else {
      return refuse(subject?.entity, subject?.property, because: Self.oneWay)
    }
    guard old.type == column.type || old.type.hasEqualValues(in: column.type) else {
      return refuse(subject?.entity, subject?.property, because: Self.otherValues)
    }
    expansion.pairs.append(
      .init(
        table: table, first: (old.name, old.type), second: (name, column.type), forward: value, backward: back,
        label: [subject?.entity, subject?.property].compactMap { $0 }.joined(separator: ".")))
  }

  /// Gives a column that only the first model has values for rows of programs with the second.
  private mutating func keep(_ column: TableMap.PlacedColumn, of table: String) {
    guard !expansion.pairs.contains(where: { $0.table == table && $0.first == column.name }),
      !isReference(column.name, in: table), !isFormula(column.name, in: table, .first),
      !isComposite(column.name, in: table, .first)
    else { return }
    let subject = subject(of: column.name, in: table, backward.planned)
    guard let value = flows.backward[table, column.name] else {
      return refuse(subject?.entity, subject?.property, because: Self.otherValues)
    }
    // Columns with the same name are examined once the second model's has another one.
    guard value.columns.isEmpty else {
      return collisions.isEmpty ? refuse(subject?.entity, subject?.property, because: Self.oneWay) : ()
    }
    fill(.init(name: column.name, type: column.type), with: value, of: table, for: .first, subject)
  }

  /// Records constant values for rows of programs with the other model.
  private mutating func fill(
    _ column: TableDefinition.Column, with value: RowExpression, of table: String, for side: OnlineExpansion.Side,
    _ subject: (entity: String, property: String)?
  ) {
    func add(_ value: SQLValue, _ numbers: [Int]?) {
      guard value != .null else { return }
      expansion.fills.append(.init(table: table, column: column, value: value, numbers: numbers, side: side))
    }
    func constant(_ value: RowExpression) -> SQLValue? {
      switch value {
      case .constant(let value): value
      case .filled(let inner, let value): constant(inner).map { $0 == .null ? value : $0 }
      default: nil
      }
    }
    if let value = constant(value) { return add(value, nil) }
    guard case .byEntity(let cases, let otherwise) = value, let rest = constant(otherwise) else {
      return refuse(subject?.entity, subject?.property, because: Self.otherValues)
    }
    for part in cases {
      guard let value = constant(part.value) else {
        return refuse(subject?.entity, subject?.property, because: Self.otherValues)
      }
      add(value, part.numbers)
    }
    add(rest, nil)
  }

  /// The property to which a column of a layout belongs.
  func subject(of column: String, in table: String, _ map: TableMap) -> (entity: String, property: String)? {
    for place in map.tables where place.table == table {
      guard let property = place.columns.first(where: { $0.name == column })?.property else { continue }
      return (place.entity.property(named: property)?.declaringEntity ?? place.entity.name, property)
    }
    // The members of a relationship without an inverse have its keys, and those of an ordered one their positions.
    for place in map.tables {
      for property in place.entity.properties {
        guard case .foreignKey(let key)? = place.toMany[property.slot], key.table == table,
          [key.column, key.orderColumn, key.entityColumn].contains(column)
        else { continue }
        return (property.declaringEntity, property.name)
      }
    }
    return nil
  }

  // MARK: Derived attributes

  /// Triggers compute the values of each model's derived attributes, renamed ones included.
  mutating func addDerivedAttributes() {
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
        refuse(table.entity.name, column.property, because: Self.notDerived)
      }
    }
  }

  /// Whether a derived attribute of both models is computed in two ways: from columns with other values, or by another
  /// derivation.
  private func needsOwnDerivation(_ name: String, of table: String) -> Bool {
    let first = forward.map.possibleDerivedColumns.first { $0.table == table && $0.name == name }
    let second = forward.planned.possibleDerivedColumns.first { $0.table == table && $0.name == name }
    guard first != nil, let second else { return false }
    let subject = subject(of: name, in: table, forward.planned)
    let isChanged = forward.operations.contains { operation in
      operation.kind == .changeDerivation && operation.entity == subject?.entity
        && operation.property == subject?.property
    }
    return isChanged || second.value.columns(in: table).contains { table, column in
      guard case .column(let source)? = flows.forward[table, column] else { return forward.map.layout[table] != nil }
      return flows.backward[table, source]?.isOwn(column) != true
    }
  }
}

extension DerivedValue {
  /// The columns with the values from which the value is computed, with their tables.
  ///
  /// - Parameter table: The table of the rows.
  fileprivate func columns(in table: String) -> [(table: String, column: String)] {
    switch self {
    case .column(let name), .flag(let name): [(table, name)]
    case .now: []
    case .text(_, let inner): inner.columns(in: table)
    case .through(let hop, let inner): inner.columns(in: hop.target)
    case .aggregate(_, let hop, let inner): inner?.columns(in: hop.target) ?? []
    }
  }
}

extension TableMap.ColumnType {
  /// Whether another type has an equal value for each of this type.
  fileprivate func hasEqualValues(in other: TableMap.ColumnType) -> Bool {
    switch (self, other) {
    case (.boolean, .int16), (.boolean, .int32), (.boolean, .integer), (.int16, .int32), (.int16, .integer),
      (.int32, .integer), (.int16, .float), (.int32, .float), (.int16, .decimal), (.int32, .decimal),
      (.integer, .decimal):
      true
    default: false
    }
  }
}
