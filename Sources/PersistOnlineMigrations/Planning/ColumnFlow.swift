import Persist

/// The values that a migration in place gives the columns of entity tables, as expressions over the columns before it.
struct ColumnFlow {
  /// By table and folded column. A column whose value can't be expressed is missing.
  private var values: [String: [String: RowExpression]] = [:]

  init(_ survey: OnlineSurvey) {
    for (table, columns) in survey.map.layout {
      for column in columns { values[table, default: [:]][column.name.foldedIdentifier] = .column(column.name) }
    }
    for change in survey.changes { follow(change.change) }
  }

  /// The value of a column after the migration; nil if it can't be expressed.
  subscript(table: String, column: String) -> RowExpression? { values[table]?[column.foldedIdentifier] }

  private mutating func follow(_ change: SchemaChange) {
    switch change {
    case .renameTable(let old, let new):
      let columns = values.removeValue(forKey: old)
      values[new] = columns
    case .renameColumn(let old, let new, let table):
      let value = values[table]?.removeValue(forKey: old.foldedIdentifier)
      values[table]?[new.foldedIdentifier] = value
    case .addColumn(let column, let value, let table): values[table]?[column.name.foldedIdentifier] = .constant(value)
    case .dropColumn(let column, let table): values[table]?[column.foldedIdentifier] = nil
    case .rebuildTable(let rebuild):
      let table = rebuild.definition.name
      var assigned = values[table] ?? [:]
      for assignment in rebuild.values {
        assigned[assignment.column.foldedIdentifier] = substituted(assignment.value, in: table)
      }
      values[table] = assigned
    case .update(let table, let assignments, let rows):
      let assigned = assignments.map { ($0.column.foldedIdentifier, value(of: $0, where: rows, in: table)) }
      for (column, value) in assigned { values[table]?[column] = value }
    default: break
    }
  }

  private func value(
    of assignment: SchemaChange.Assignment, where rows: RowCondition, in table: String
  ) -> RowExpression? {
    guard rows.tests.isEmpty, var value = substituted(assignment.value, in: table) else { return nil }
    if rows.missing.isEmpty, rows.entityNumbers == nil { return value }
    guard let present = self[table, assignment.column] else { return nil }
    if !rows.missing.isEmpty {
      guard rows.missing == [assignment.column], case .constant(let constant) = value else { return nil }
      value = .filled(present, with: constant)
    }
    guard let numbers = rows.entityNumbers else { return value }
    return .byEntity([.init(numbers: numbers, value: value)], otherwise: present)
  }

  /// An expression over the present columns as one over those before the migration.
  private func substituted(_ expression: RowExpression, in table: String) -> RowExpression? {
    func renamed(_ column: String) -> String? {
      guard case .column(let name)? = self[table, column] else { return nil }
      return name
    }
    switch expression {
    case .column(let name): return self[table, name]
    case .constant: return expression
    case .filled(let inner, let value): return substituted(inner, in: table).map { .filled($0, with: value) }
    case .ifPresent(let columns, let inner, let value):
      let names = columns.compactMap(renamed)
      guard names.count == columns.count else { return nil }
      return substituted(inner, in: table).map { .ifPresent(names, $0, otherwise: value) }
    case .byEntity(let cases, let otherwise):
      let parts = cases.compactMap { part in
        substituted(part.value, in: table).map { RowExpression.EntityCase(numbers: part.numbers, value: $0) }
      }
      guard parts.count == cases.count, let otherwise = substituted(otherwise, in: table) else { return nil }
      return .byEntity(parts, otherwise: otherwise)
    case .renumbered(let column, let numbers):
      // Entities keep their numbers.
      return numbers.allSatisfy { $0.key == $0.value } ? self[table, column] : nil
    case .marked(let column): return renamed(column).map { .marked($0) }
    case .unmarked(let column): return renamed(column).map { .unmarked($0) }
    case .shifted, .found: return nil
    }
  }
}

extension RowExpression {
  /// Whether the value is that of a column itself.
  func isOwn(_ column: String) -> Bool {
    if case .column(let name) = self { name.foldedIdentifier == column.foldedIdentifier } else { false }
  }

  /// The folded names of the columns from which the value is computed.
  var columns: Set<String> {
    switch self {
    case .column(let name), .marked(let name), .unmarked(let name), .shifted(let name, _), .renumbered(let name, _),
      .found(let name, _, _, _):
      [name.foldedIdentifier]
    case .constant: []
    case .filled(let inner, _): inner.columns
    case .ifPresent(let names, let inner, _): inner.columns.union(names.map(\.foldedIdentifier))
    case .byEntity(let cases, let otherwise):
      cases.reduce(into: otherwise.columns) { $0.formUnion($1.value.columns) }
    }
  }
}
