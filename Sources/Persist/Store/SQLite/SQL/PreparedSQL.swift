/// SQL that runs many times with other values: every connection prepares it once and finds it by identity.
final class PreparedSQL: Sendable {
  let text: String

  /// - Parameter sql: SQL whose parameters are written `\(parameter: ())`; it has no values of its own.
  init(_ sql: SQLText) {
    precondition(sql.values.isEmpty, "SQL that is prepared once takes its values each time that it runs.")
    text = sql.text
  }
}
