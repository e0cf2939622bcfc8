/// The derivation of a new table's column from the old table, using the old columns' names.
struct ColumnPlan: Sendable {
  let name: String
  let type: TableMap.ColumnType
  let subject: InPlaceWork.Subject?
  /// The old column that becomes this one.
  var carried: String?
  /// Whether the carried column is declared with another type.
  var isRetyped = false
  /// Whether the table can have rows of entities that don't use the column.
  var isPartial = false
  /// Whether the carried column is declared with a default, which new rows of entities without the property would get.
  var hasStaleDefault = false
  /// Expressions that replace the carried value for the rows of an old entity number.
  var parts: [Int: RowExpression] = Dictionary()
  /// Replacements for missing values, by old entity number.
  var fills: [Int: SQLValue] = Dictionary()
  /// For a column of entity numbers: the new numbers by the old ones.
  var renumbering: [Int: Int] = Dictionary()

  /// The value as an expression over the old columns, for rows of the given old entity numbers.
  ///
  /// - Parameter isRenumbered: whether the expression returns new entity numbers.
  func value(ofEntities numbers: [Int], isRenumbered: Bool) -> RowExpression {
    let base = carried.map { numbered($0, isRenumbered) } ?? .constant(.null)
    // Few: hardly any column has more than two.
    var cases: [(value: RowExpression, numbers: [Int])] = []
    for number in numbers {
      var value = parts[number] ?? base
      if case .column(let column) = value { value = numbered(column, isRenumbered) }
      if let fill = fills[number] { value = .filled(value, with: fill) }
      guard value != base else { continue }
      if let known = cases.firstIndex(where: { $0.value == value }) {
        cases[known].numbers.append(number)
      } else {
        cases.append((value, [number]))
      }
    }
    if let (value, covered) = cases.first, covered.count == numbers.count { return value }
    guard !cases.isEmpty else { return base }
    let branches = cases.map { RowExpression.EntityCase(numbers: $0.numbers.sorted(), value: $0.value) }
      .ordered { $0.numbers.lexicographicallyPrecedes($1.numbers) }
    return .byEntity(branches, otherwise: base)
  }

  private func numbered(_ column: String, _ isRenumbered: Bool) -> RowExpression {
    isRenumbered && !renumbering.isEmpty ? .renumbered(column, renumbering) : .column(column)
  }

  /// The default that gives a new column the values of the rows of all these entities; nil if there is none.
  func constant(forEntities numbers: [Int]) -> SQLValue? {
    guard carried == nil, case .constant(let value) = value(ofEntities: numbers, isRenumbered: false),
      value == .null || !isPartial
    else { return nil }
    return value
  }
}

extension RowExpression {
  /// The expression with renamed columns.
  package dynamic func renamingColumns(_ rename: (String) -> String) -> RowExpression {
    switch self {
    case .column(let name): .column(rename(name))
    case .constant: self
    case .filled(let inner, let value): .filled(inner.renamingColumns(rename), with: value)
    case .ifPresent(let columns, let inner, let value):
      .ifPresent(columns.map(rename), inner.renamingColumns(rename), otherwise: value)
    case .byEntity(let cases, let otherwise):
      .byEntity(
        cases.map { EntityCase(numbers: $0.numbers, value: $0.value.renamingColumns(rename)) },
        otherwise: otherwise.renamingColumns(rename))
    case .renumbered(let column, let numbers): .renumbered(rename(column), numbers)
    case .marked(let column): .marked(rename(column))
    case .unmarked(let column): .unmarked(rename(column))
    case .shifted(let column, let distance): .shifted(rename(column), by: distance)
    case .found(let column, let distance, let table, let numbers):
      .found(rename(column), by: distance, in: table, entityNumbers: numbers)
    }
  }
}
