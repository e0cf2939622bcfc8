import LinkedSQLite
import Foundation

/// Another process that uses a store, by plain SQLite.
///
/// `SQLRunner FILE SQL` runs SQL on the file.
///
/// `SQLRunner FILE --watch STOP SQL…` repeatedly opens the file, runs queries in one transaction and closes it until
/// the file STOP exists, and then prints each different result on a separate line.
///
/// `SQLRunner FILE --lines` opens the file, runs each line of the standard input on it, and answers each with a line.
@main
struct SQLRunner {
  static func main() {
    let arguments = CommandLine.arguments
    if arguments.count > 4, arguments[2] == "--watch" {
      return watch(arguments[1], stop: arguments[3], ["BEGIN"] + arguments[4...] + ["COMMIT"])
    }
    guard arguments.count == 3 else { exit(2) }
    guard arguments[2] != "--lines" else { return runLines(on: arguments[1]) }
    do {
      _ = try run([arguments[2]], on: arguments[1])
    } catch {
      FileHandle.standardError.write(Data(error.message.utf8))
      exit(error.isOfOpening ? 3 : 4)
    }
  }

  private static func watch(_ file: String, stop: String, _ queries: [String]) {
    var outcomes: [String] = []
    FileHandle.standardOutput.write(Data("ready\n".utf8))
    repeat {
      let outcome: String
      do { outcome = try run(queries, on: file) } catch { outcome = "error \(error.code): \(error.message)" }
      if !outcomes.contains(outcome) { outcomes.append(outcome) }
    } while !FileManager.default.fileExists(atPath: stop)
    for outcome in outcomes { print(outcome) }
  }

  private static func runLines(on file: String) {
    var connection: OpaquePointer?
    guard sqlite3_open_v2(file, &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else { exit(3) }
    unlock(connection)
    sqlite3_busy_timeout(connection, 30_000)
    while let line = readLine() {
      let code = sqlite3_exec(connection, line, nil, nil, nil)
      let answer = code == SQLITE_OK ? "done" : String(cString: sqlite3_errmsg(connection))
      FileHandle.standardOutput.write(Data((answer + "\n").utf8))
    }
    sqlite3_close_v2(connection)
  }

  /// Gives a connection the key of the run of tests, if it has one: 64 digits.
  private static func unlock(_ connection: OpaquePointer?) {
    guard let digits = getenv("PERSIST_TEST_KEY").map({ String(cString: $0) }), !digits.isEmpty else { return }
    let key = "x'\(digits)'"
    _ = persist_sqlite3_key(connection, key, Int32(key.utf8.count))
  }

  private struct Failure: Error {
    let code: Int32
    let message: String
    var isOfOpening = false
  }

  /// - Returns: All values of all rows, without line breaks.
  private static func run(_ statements: [String], on file: String) throws(Failure) -> String {
    var connection: OpaquePointer?
    defer { sqlite3_close_v2(connection) }
    let opened = sqlite3_open_v2(file, &connection, SQLITE_OPEN_READWRITE, nil)
    guard opened == SQLITE_OK else {
      throw Failure(code: opened, message: String(cString: sqlite3_errmsg(connection)), isOfOpening: true)
    }
    unlock(connection)
    sqlite3_busy_timeout(connection, 30_000)
    var values: [String] = []
    for statement in statements {
      let code = withUnsafeMutablePointer(to: &values) { values in
        sqlite3_exec(
          connection, statement,
          { values, count, columns, _ in
            let values = values?.assumingMemoryBound(to: [String].self)
            for index in 0..<Int(count) {
              let text = columns?[index].map { String(cString: $0) } ?? "NULL"
              values?.pointee.append(text.replacingOccurrences(of: "\n", with: " "))
            }
            return 0
          }, values, nil)
      }
      guard code == SQLITE_OK else {
        throw Failure(code: sqlite3_extended_errcode(connection), message: String(cString: sqlite3_errmsg(connection)))
      }
    }
    return values.joined(separator: "|")
  }
}
