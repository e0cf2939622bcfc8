/// A statement that a store would run, and how.
public struct StatementExplanation: Sendable, Hashable {
  public var sql: String
  /// The values of its `?`, in order, as SQL writes them.
  public var values: [String]
  /// SQLite's plan, a step in each line.
  ///
  /// - SeeAlso: <https://sqlite.org/eqp.html>
  public var plan: [String]
  /// Whether every row of the entity's table is looked at.
  public var walksThroughTable: Bool
  /// Whether the rows are sorted once they are found, and not read in order.
  public var sorts: Bool
}
