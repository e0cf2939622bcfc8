/// The rows whose change fires a trigger, as its statements name them.
package enum ChangedRows {
  /// One row, with its name in the trigger's body.
  case row(SharedSQL)
  /// All rows that a statement has changed, as a table.
  case table(SharedSQL)

  /// The values of a column, for ``condition(_:in:)``.
  package func values(_ column: SharedSQL) -> SharedSQL {
    switch self {
    case .row(let row): "\(row).\(column)"
    case .table(let table): "SELECT \(column) FROM \(table)"
    }
  }

  /// The condition that a column has the value of another column of the changed rows.
  package func condition(_ column: SharedSQL, is other: SharedSQL) -> SharedSQL {
    switch self {
    case .row(let row): "\(column) = \(row).\(other)"
    case .table: condition(column, in: values(other))
    }
  }

  /// - Parameter keys: The result of ``values(_:)``, or a query.
  package func condition(_ column: SharedSQL, in keys: SharedSQL) -> SharedSQL {
    switch self {
    case .row: "\(column) IN (\(keys))"
    // The server reuses the plan of the first call; in this form, it uses an index for any number of rows.
    case .table: "\(column) = ANY (ARRAY(\(keys)))"
    }
  }
}
