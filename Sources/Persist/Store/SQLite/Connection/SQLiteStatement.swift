import LinkedSQLite
package import Foundation

/// A prepared statement: bind, step, read columns.
///
/// Belongs to one connection and, like it, to one thread at a time. A connection caches its statements and reuses them.
package final class SQLiteStatement {
  let handle: OpaquePointer
  /// Not retained: the connection outlives its statements, which it finalizes before it closes. `unowned` would count
  /// two references for each run.
  private let connectionReference: Unmanaged<SQLiteConnection>
  private var connection: SQLiteConnection { connectionReference.takeUnretainedValue() }
  // Unchecked: only one caller has access to the statement, and none of its functions calls back while changing these.
  // The check took a tenth of the time of inserting a row.
  @exclusivity(unchecked) private var arena = BindingArena()
  /// Whether the statement is before its first row.
  @exclusivity(unchecked) private var isReset = true

  /// Whether it is cached by its text and in exclusive use; see ``StatementCache``.
  var isInUse = false

  init(handle: OpaquePointer, connection: SQLiteConnection) {
    self.handle = handle
    connectionReference = .passUnretained(connection)
  }

  func finalize() { sqlite3_finalize(handle) }

  /// The SQL that was prepared.
  var sql: String { sqlite3_sql(handle).map { String(cString: $0) } ?? "" }

  // MARK: Running

  /// Restarts the statement: without bound values, before the first row.
  func begin() {
    beginAgain()
    sqlite3_clear_bindings(handle)
    hasStepped = false
  }

  /// Restarts the statement for other values: the caller binds every parameter again.
  func beginAgain() {
    reset()
    arena.reset()
    bindingFailure = nil
    connectionReference._withUnsafeGuaranteedRef { $0.counts.executed += 1 }
  }

  /// Advances to the next row.
  ///
  /// - Returns: Whether there is a next row.
  package func step() throws -> Bool {
    if let code = bindingFailure { throw connection.failure(code, sql: sql) }
    isReset = false
    var code = sqlite3_step(handle)
    if !hasStepped { code = completeFirstStep(code) }
    switch code {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw failure(code)
    }
  }

  // Kept out of the inlined steps, because it runs rarely.
  @inline(never)
  private func failure(_ code: Int32) -> any Error {
    let error = connection.predicateFunctions.takeError() ?? connection.failure(code, sql: sql)
    reset()
    return error
  }

  /// Waits for the index of the log if necessary, and notices that the statement was recompiled because the schema has
  /// changed.
  ///
  /// - SeeAlso: <https://sqlite.org/c3ref/c_stmtstatus_counter.html#sqlitestmtstatusreprepare>
  /// - Returns: The result of the last attempt.
  @inline(never)
  private func completeFirstStep(_ code: Int32) -> Int32 {
    let code = connection.waitingForIndex(code) {
      sqlite3_reset(handle)
      return sqlite3_step(handle)
    }
    hasStepped = true
    if sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_REPREPARE, 1) > 0 { connection.hasReloadedSchema = true }
    return code
  }

  /// Runs a statement that returns no rows, or whose rows are ignored.
  func run() throws {
    while try step() {}
    reset()
  }

  /// Ends a run early, so that the statement releases its locks.
  func reset() {
    guard !isReset else { return }
    sqlite3_reset(handle)
    isReset = true
  }

  // MARK: Binding; parameters are numbered from 1

  @inline(never)
  package func bind(_ value: SQLValue, at index: Int32) {
    switch value {
    case .null: bindNull(at: index)
    case .integer(let value): bind(value, at: index)
    case .double(let value): bind(value, at: index)
    case .text(let value): bind(value, at: index)
    case .blob(let value): bind(value, at: index)
    }
  }

  func bindNull(at index: Int32) { check(sqlite3_bind_null(handle, index)) }

  func bind(_ value: Int64, at index: Int32) { check(sqlite3_bind_int64(handle, index, value)) }

  /// NaN doesn't exist in SQLite and is bound as null.
  func bind(_ value: Double, at index: Int32) { check(sqlite3_bind_double(handle, index, value)) }

  func bind(_ value: String, at index: Int32) {
    var value = value
    value.withUTF8 { bindText(UnsafeRawBufferPointer($0), at: index) }
  }

  func bindText(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
    if bytes.count > BindingArena.largestValue {
      let text = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
      check(persist_sqlite3_bind_text_copy(handle, index, text, UInt64(bytes.count)))
    } else {
      let text = arena.copy(bytes).assumingMemoryBound(to: CChar.self)
      check(persist_sqlite3_bind_text_borrowed(handle, index, text, UInt64(bytes.count)))
    }
  }

  /// Binds a text that exists until ``forgetValues()`` or ``begin()`` is called.
  func bindBorrowedText(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
    let text = bytes.baseAddress?.assumingMemoryBound(to: CChar.self)
    check(persist_sqlite3_bind_text_borrowed(handle, index, text, UInt64(bytes.count)))
  }

  /// Binds bytes that exist until ``forgetValues()`` or ``begin()`` is called.
  func bindBorrowedBlob(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
    if bytes.isEmpty {
      check(sqlite3_bind_zeroblob(handle, index, 0))
    } else {
      check(persist_sqlite3_bind_blob_borrowed(handle, index, bytes.baseAddress, UInt64(bytes.count)))
    }
  }

  /// Clears the bound values of a statement that isn't running.
  func forgetValues() { sqlite3_clear_bindings(handle) }

  @inline(never)
  func bind(_ value: Data, at index: Int32) {
    value.withUnsafeBytes { bindBlob($0, at: index) }
  }

  func bindBlob(_ bytes: UnsafeRawBufferPointer, at index: Int32) {
    if bytes.isEmpty {
      check(sqlite3_bind_zeroblob(handle, index, 0))
    } else if bytes.count > BindingArena.largestValue {
      check(persist_sqlite3_bind_blob_copy(handle, index, bytes.baseAddress, UInt64(bytes.count)))
    } else {
      check(persist_sqlite3_bind_blob_borrowed(handle, index, arena.copy(bytes), UInt64(bytes.count)))
    }
  }

  /// Binding reports a nonexistent parameter, a value over SQLite's limit, or lack of memory. The first is a
  /// programming error; the others are reported when the statement runs.
  private func check(_ code: Int32) {
    precondition(code != SQLITE_RANGE && code != SQLITE_MISUSE, "The statement has no such parameter: \(sql)")
    if code != SQLITE_OK { bindingFailure = bindingFailure ?? code }
  }

  @exclusivity(unchecked) private var hasStepped = false

  /// The first binding failure since ``begin()``; ``step()`` throws it.
  @exclusivity(unchecked) private var bindingFailure: Int32?

  /// The number of the statement's parameters.
  package var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

  // MARK: Columns of the current row, numbered from 0

  package var columnCount: Int32 { sqlite3_column_count(handle) }

  package func columnName(_ column: Int32) -> String {
    sqlite3_column_name(handle, column).map { String(cString: $0) } ?? ""
  }

  /// The column's value for `sqlite3_value_…`, valid until the next step.
  ///
  /// SQLite calls it unprotected because no mutex is held; connections are opened without mutexes
  /// (`SQLITE_OPEN_NOMUTEX`), where both kinds are the same. One lookup per value, rather than one per access, made
  /// reading rows about a quarter faster.
  ///
  /// - SeeAlso: <https://sqlite.org/c3ref/value.html>
  func columnValue(_ column: Int32) -> OpaquePointer? { sqlite3_column_value(handle, column) }

  package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(handle, column) == SQLITE_NULL }

  package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

  package func double(_ column: Int32) -> Double { sqlite3_column_double(handle, column) }

  /// Empty if the column is null.
  package func text(_ column: Int32) -> String {
    guard let start = sqlite3_column_text(handle, column) else { return "" }
    let count = Int(sqlite3_column_bytes(handle, column))
    return String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// Empty if the column is null.
  package func data(_ column: Int32) -> Data {
    guard let start = sqlite3_column_blob(handle, column) else { return Data() }
    return Data(bytes: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  /// The column's bytes, valid until the next step; empty if it is null.
  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    guard let start = sqlite3_column_blob(handle, column) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column)))
  }

  package func value(_ column: Int32) -> SQLValue {
    switch sqlite3_column_type(handle, column) {
    case SQLITE_INTEGER: .integer(integer(column))
    case SQLITE_FLOAT: .double(double(column))
    case SQLITE_TEXT: .text(text(column))
    case SQLITE_BLOB: .blob(data(column))
    default: .null
    }
  }
}
