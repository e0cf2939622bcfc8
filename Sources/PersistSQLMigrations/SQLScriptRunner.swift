import LinkedSQLite
import Persist

/// Runs an application's SQL on a connection: within the transaction of a migration, or outside of transactions.
struct SQLScriptRunner {
  private let connection: SQLiteConnection
  /// Nil if the SQL may manage transactions itself.
  private let guardian: TransactionGuard?

  /// Calls `body` with a runner whose statements can't end the open transaction, if there is one.
  static func use<T>(_ connection: SQLiteConnection, _ body: (SQLScriptRunner) throws -> T) throws -> T {
    guard connection.isInTransaction else { return try body(SQLScriptRunner(connection: connection, guardian: nil)) }
    return try connection.guardingTransaction { guardian in
      try body(SQLScriptRunner(connection: connection, guardian: guardian))
    }
  }

  /// Runs every statement of a script.
  ///
  /// - Parameters:
  ///   - values: the values of the only statement's parameters.
  ///   - body: executes a statement whose values are bound.
  func run(
    _ script: SQLScript, values: [SQLValue] = [],
    _ body: (SQLiteStatement, _ part: Double) throws -> Void
  ) throws {
    var count = 0
    do {
      try script.forEachStatement(on: connection) { statement, part in
        count += 1
        try check(statement, binding: values, expecting: count)
        for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
        try body(statement, part)
      }
    } catch var error as PersistenceError {
      if let refused = guardian?.takeRefusal() { error = Self.refusal(of: refused, at: error.place) }
      throw error
    }
  }

  /// The total number of rows that all statements have inserted, updated and deleted.
  var changedRows: Int { Int(sqlite3_total_changes(connection.handle)) }

  private func check(_ statement: SQLiteStatement, binding values: [SQLValue], expecting count: Int) throws {
    guard guardian == nil || connection.isInTransaction else {
      throw PersistenceError(.migrationFailed, "An earlier statement rolled the transaction back.")
    }
    guard values.isEmpty || count == 1 else {
      throw PersistenceError(
        .invalidRequest, "Values were given for several statements.", fix: "Run them one at a time.")
    }
    guard statement.parameterCount == values.count else {
      throw PersistenceError(
        .invalidRequest,
        "The statement takes \(Measure.count(statement.parameterCount, "value")) and was given \(values.count).",
        fix: "Pass a value for each '?'; a file can't contain placeholders.")
    }
  }

  private static func refusal(of statement: String, at place: PersistenceError.Place) -> PersistenceError {
    PersistenceError(
      .migrationFailed, at: place,
      "'\(statement)' can't run here: each migration runs in a transaction, which Persist begins and ends.",
      fix: "Remove it, or put '-- persist: without-transaction' at the top of the file; a failure is then not rolled "
        + "back.")
  }
}
