/// A count of rows that decides whether a migration can run, or says what it destroys.
enum RowCount: Sendable, Hashable {
  /// Rows of a table.
  case rows(String, RowCondition)
  /// Rows with a value in a column.
  case present(String, column: String, RowCondition)
  /// Rows whose whole number lies outside a range, or isn't a whole number.
  case outside(ClosedRange<Int64>, String, column: String, RowCondition)
  /// Rows whose value stands in a file beside the store.
  case externalValues(String, column: String, RowCondition)
  /// Rows beyond the first among those whose values of all columns are equal; no value is equal to nothing.
  case duplicates(String, values: [RowExpression], RowCondition)
  /// Owners with more than one member.
  case crowded(String, owner: String, member: String)
  /// Rows that lead to rows of some entities.
  case leadingTo(String, column: String, target: String, entityNumbers: [Int])
}
