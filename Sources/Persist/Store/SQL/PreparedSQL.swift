/// Frequently run SQL: each connection prepares it once, and finds the statement again without comparing texts.
///
/// The text is created when a connection prepares it: a store has several such statements per entity, and few programs
/// use all.
package final class PreparedSQL: Sendable {
  private let sql: @Sendable () -> SQLText

  /// - Parameter sql: SQL with parameters written as `\(parameter: ())`, and without values of its own.
  package init(_ sql: @autoclosure @escaping @Sendable () -> SQLText) { self.sql = sql }

  package var text: String {
    let sql = sql()
    precondition(sql.values.isEmpty, "SQL that is prepared once takes its values each time that it runs.")
    return sql.text
  }
}
