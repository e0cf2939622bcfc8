/// A context's query to a store for values computed from rows, instead of the rows themselves.
package struct ValueQuery: Sendable, Equatable {
  /// The rows to compute from, with their order and number.
  package var rows: RowQuery
  package var columns: [Column]
  /// The values to group by, with one line of results per distinct combination; empty for no groups.
  package var groups: [FetchExpression] = []

  /// A value of each row, or an aggregate over the rows of each group.
  package enum Column: Sendable, Equatable {
    case value(FetchExpression)
    case aggregate(GroupAggregate)
  }
}
