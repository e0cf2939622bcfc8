import LinkedSQLite
import Foundation
import Logging

/// Logs the SQL of a connection through swift-log, according to `PERSIST_SQL_DEBUG` or Core Data's launch argument
/// `-com.apple.CoreData.SQLDebug`.
///
/// | value | output |
/// |---|---|
/// | 1 | each statement and its duration |
/// | 2 | … with the bound values |
/// | 3 | … and the returned rows |
/// | 4 | … and SQLite's query plan |
///
/// It uses SQLite's trace callback, so that connections without it have no overhead.
///
/// - SeeAlso: <https://sqlite.org/c3ref/trace_v2.html>
final class SQLiteDebugLog {
  /// The level from the environment, read once; 0 for no output.
  static let level: Int = {
    // Building the dictionary of all environment variables would take as long as opening a connection.
    let text = getenv("PERSIST_SQL_DEBUG").map { String(cString: $0) } ?? ""
    return level(environment: text, arguments: CommandLine.arguments)
  }()

  /// The level that a variable of the environment or a launch argument with its value requests.
  static func level(environment text: String, arguments: [String]) -> Int {
    let index = arguments.firstIndex(of: "-com.apple.CoreData.SQLDebug").map { $0 + 1 }
    let argument = index.flatMap { arguments.indices.contains($0) ? Int(arguments[$0]) : nil }
    return min(max(Int(text) ?? argument ?? 0, 0), 4)
  }

  private let level: Int
  private let handle: OpaquePointer
  private let print: (String) -> Void
  private var rowCount = 0
  private var isExplaining = false

  /// Nil if nothing is logged.
  ///
  /// - Parameters:
  ///   - level: The amount of output, from the environment except in tests.
  ///   - print: Receives each line instead of swift-log.
  init?(
    attachedTo handle: OpaquePointer, name: String, level: Int = SQLiteDebugLog.level,
    print: ((String) -> Void)? = nil
  ) {
    guard level > 0 else { return nil }
    self.level = level
    self.handle = handle
    self.print = print ?? Self.logger(name)
    attach()
  }

  /// Stops logging.
  func detach() { sqlite3_trace_v2(handle, 0, nil, nil) }

  /// Starts logging, again.
  func attach() {
    var events = UInt32(SQLITE_TRACE_PROFILE)
    if level >= 3 { events |= UInt32(SQLITE_TRACE_ROW) }
    // Unretained: the connection detaches the log by closing before it releases it.
    sqlite3_trace_v2(
      handle, events,
      { event, context, subject, detail in
        guard let context, let subject else { return 0 }
        let log = Unmanaged<SQLiteDebugLog>.fromOpaque(context).takeUnretainedValue()
        let statement = OpaquePointer(subject)
        if event == UInt32(SQLITE_TRACE_ROW) {
          log.row(statement)
        } else {
          log.finished(statement, nanoseconds: detail?.load(as: Int64.self) ?? 0)
        }
        return 0
      },
      Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { sqlite3_trace_v2(handle, 0, nil, nil) }

  private static func logger(_ name: String) -> (String) -> Void {
    var logger = Logger(label: "persist.sql")
    logger.logLevel = .debug
    logger[metadataKey: "store"] = .string(name)
    let named = logger
    return { named.debug("\($0)") }
  }

  private func row(_ statement: OpaquePointer) {
    guard !isExplaining else { return }
    rowCount += 1
    let columns = (0..<sqlite3_column_count(statement)).map { column in
      let name = sqlite3_column_name(statement, column).map { String(cString: $0) } ?? ""
      return "\(name)=\(Self.text(statement, column))"
    }
    print("row \(rowCount): \(columns.joined(separator: ", "))")
  }

  private func finished(_ statement: OpaquePointer, nanoseconds: Int64) {
    guard !isExplaining else { return }
    let sql = sqlite3_sql(statement).map { String(cString: $0) } ?? ""
    var line = sql
    if level >= 2, let expanded = sqlite3_expanded_sql(statement) {
      line = String(cString: expanded)
      sqlite3_free(expanded)
    }
    line += String(format: " (%.3f ms", Double(nanoseconds) / 1_000_000)
    if level >= 3 { line += ", \(rowCount) rows" }
    print("\(line))")
    rowCount = 0
  }

  /// Logs SQLite's query plan for a newly prepared statement.
  func explain(_ sql: String) {
    guard level >= 4 else { return }
    isExplaining = true
    defer { isExplaining = false }
    var statement: OpaquePointer?
    guard sqlite3_prepare_v2(handle, SQLText.plan(of: sql), -1, &statement, nil) == SQLITE_OK, let statement
    else { return }
    defer { sqlite3_finalize(statement) }
    while sqlite3_step(statement) == SQLITE_ROW { print("plan: \(Self.text(statement, 3)) of \(sql)") }
  }

  /// Long values are truncated; blobs are shown by their size.
  private static func text(_ statement: OpaquePointer, _ column: Int32) -> String {
    switch sqlite3_column_type(statement, column) {
    case SQLITE_NULL: return "NULL"
    case SQLITE_BLOB: return "\(sqlite3_column_bytes(statement, column)) bytes"
    default:
      let text = sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
      return text.count > 200 ? text.prefix(200) + "…" : text
    }
  }
}
