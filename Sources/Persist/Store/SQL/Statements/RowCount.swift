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
  /// Pairs of a relationship.
  case related(PairRows)
  /// Owners with more than one member.
  case crowded(PairRows)
  /// Owners with members in both relationships.
  case shared(PairRows, PairRows)
  /// Pairs of the first relationship that none of the others has.
  case unmatched(PairRows, [PairRows])
  /// Rows that are no owners in any of the relationships.
  case unrelated(String, RowCondition, [PairRows])
}

/// Some pairs of a relationship: those between rows of some entities.
struct PairRows: Sendable, Hashable {
  let pairs: PairSource
  let owners: PairEnd
  let members: PairEnd

  /// The same pairs from their other end.
  var turned: PairRows { PairRows(pairs: pairs.turned, owners: members, members: owners) }
}
