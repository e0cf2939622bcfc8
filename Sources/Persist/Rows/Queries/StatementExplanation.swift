/// A statement that a store would run, with its plan.
public struct StatementExplanation: Sendable, Hashable {
  /// The text of the statement, with `?` for its parameters.
  public var sql: String
  /// The values of its `?` parameters, in order, as SQL literals.
  public var values: [String]
  /// SQLite's query plan, one step per line.
  ///
  /// - SeeAlso: <https://sqlite.org/eqp.html>
  public var plan: [String]
  /// Whether the statement scans the entity's whole table.
  public var walksThroughTable: Bool
  /// Whether the rows are sorted after they are found, instead of being read in order.
  public var sorts: Bool

  package init(sql: String, values: [String], plan: [String], walksThroughTable: Bool, sorts: Bool) {
    self.sql = sql
    self.values = values
    self.plan = plan
    self.walksThroughTable = walksThroughTable
    self.sorts = sorts
  }
}
