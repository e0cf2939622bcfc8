/// SQL that runs often: each connection prepares it once, and finds the statement again without a look at the text.
///
/// The text is made when a connection prepares it: a store has several for each entity, and few programs use all.
final class PreparedSQL: Sendable {
  private let sql: @Sendable () -> SQLText

  /// - Parameter sql: SQL whose parameters are written `\(parameter: ())`; it has no values of its own.
  init(_ sql: @autoclosure @escaping @Sendable () -> SQLText) { self.sql = sql }

  var text: String {
    let sql = sql()
    precondition(sql.values.isEmpty, "SQL that is prepared once takes its values each time that it runs.")
    return sql.text
  }
}
