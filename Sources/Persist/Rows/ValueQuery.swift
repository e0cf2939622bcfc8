/// What a context asks of a store where it wants values computed from rows, and not the rows.
struct ValueQuery: Sendable, Hashable {
  /// Which rows, in which order, how many.
  var rows: RowQuery
  var columns: [Column]
  /// What one line of values is made for each value of; empty for no groups.
  var groups: [FetchExpression] = []

  /// A value of each row, or an aggregate over the rows of each group.
  enum Column: Sendable, Hashable {
    case value(FetchExpression)
    case aggregate(GroupAggregate)
  }
}
