public import Persist

/// The database passed to a migration in code.
///
/// It can only be used while the migration runs, in its transaction. Values are bound to `?` and never inserted into
/// the SQL text.
///
/// ```swift
/// SQLMigration(7, "fill_slugs") { database in
///   try database.forEachRow("SELECT id, title FROM post WHERE slug IS NULL") { row in
///     let slug = slug(of: row["title"].stringValue ?? "")
///     try database.execute("UPDATE post SET slug = ? WHERE id = ?", .text(slug), row["id"])
///   }
/// }
/// ```
public final class SQLDatabase {
  /// A row of a query's result.
  public struct Row: Sendable, Hashable {
    let columns: [String]
    /// The values of all columns, in the query's order.
    public let values: [SQLValue]

    /// The value of a column by its index, starting from 0.
    public subscript(index: Int) -> SQLValue { values[index] }

    /// The value of a column by its name in the query.
    public subscript(name: String) -> SQLValue {
      guard let index = columns.firstIndex(of: name) else {
        preconditionFailure("The query has no column '\(name)', only \(columns.joined(separator: ", ")).")
      }
      return values[index]
    }
  }

  private let runner: SQLScriptRunner
  private var isOpen = true

  init(_ runner: SQLScriptRunner) { self.runner = runner }

  /// Runs one or more statements.
  ///
  /// - Parameters:
  ///   - sql: the text of the statements.
  ///   - values: the values of the parameters `?`; with values, only a single statement is allowed.
  /// - Returns: the number of inserted, deleted or updated rows, including those changed by triggers.
  @discardableResult
  public func execute(_ sql: String, _ values: SQLValue...) throws -> Int {
    let before = runner.changedRows
    try run(sql, binding: values) { while try $0.step() {} }
    return runner.changedRows - before
  }

  /// Returns all rows of a query.
  public func rows(_ sql: String, _ values: SQLValue...) throws -> [Row] {
    var rows: [Row] = []
    try read(sql, binding: values) { rows.append($0) }
    return rows
  }

  /// Calls `body` for each row of a query, one at a time in memory.
  ///
  /// Rows of the same table that `body` changes may be visited again; a query with `ORDER BY` reads all of them first.
  public func forEachRow(_ sql: String, _ values: SQLValue..., body: (Row) throws -> Void) throws {
    try read(sql, binding: values, body)
  }

  /// Closes the database when the migration has ended.
  func close() { isOpen = false }

  private func read(_ sql: String, binding values: [SQLValue], _ body: (Row) throws -> Void) throws {
    try run(sql, binding: values) { statement in
      let columns = (0..<statement.columnCount).map { statement.columnName($0) }
      while try statement.step() {
        try body(Row(columns: columns, values: columns.indices.map { statement.value(Int32($0)) }))
      }
    }
  }

  private func run(_ sql: String, binding values: [SQLValue], _ body: (SQLiteStatement) throws -> Void) throws {
    precondition(isOpen, "A migration's database can't be used after the migration.")
    precondition(!sql.utf8.contains(0), "SQL can't contain NUL characters.")
    try runner.run(SQLScript(sql), values: values) { statement, _ in try body(statement) }
  }
}
