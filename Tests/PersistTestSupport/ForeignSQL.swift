import LinkedSQLite
public import Foundation

#if canImport(PersistPostgreSQL)
  import CPostgreSQL
#endif

/// SQL on a store, as another program runs it: without Persist, by the client library of the store's engine.
///
/// The SQL is the same for files and servers as long as it uses names without quotes and no function of one engine:
/// `SELECT ZNAME FROM ZPERSON ORDER BY Z_PK`. Literals of bytes are written as `x'01'`.
public enum ForeignSQL {
  /// An error of the client library.
  public struct Failure: Error, CustomStringConvertible {
    public let description: String
  }

  /// Runs statements in order, each in a transaction of its own.
  ///
  /// - Returns: The rows of the last one as texts; "nil" for null.
  @discardableResult
  public static func run(_ statements: [String], at url: URL) throws -> [[String]] {
    guard url.isFileURL else { return try runOnServer(statements, at: url) }
    var connection: OpaquePointer?
    defer { sqlite3_close_v2(connection) }
    guard sqlite3_open_v2(url.path, &connection, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else {
      throw Failure(description: String(cString: sqlite3_errmsg(connection)))
    }
    TestKey.unlock(connection)
    sqlite3_busy_timeout(connection, 30_000)
    var rows: [[String]] = []
    for statement in statements {
      rows = []
      let code = withUnsafeMutablePointer(to: &rows) { rows in
        sqlite3_exec(
          connection, statement,
          { rows, count, columns, _ in
            let row = (0..<Int(count)).map { columns?[$0].map { String(cString: $0) } ?? "nil" }
            rows?.assumingMemoryBound(to: [[String]].self).pointee.append(row)
            return 0
          }, rows, nil)
      }
      guard code == SQLITE_OK else { throw Failure(description: String(cString: sqlite3_errmsg(connection))) }
    }
    return rows
  }

  /// Runs statements in order, each in a transaction of its own.
  @discardableResult
  public static func run(_ statements: String..., at url: URL) throws -> [[String]] { try run(statements, at: url) }

  #if canImport(PersistPostgreSQL)
    /// A connection that remains open, such as one whose transaction holds locks. One thread uses it at a time.
    public final class Session {
      private let handle: OpaquePointer?

      public init(_ url: URL) throws {
        let (connection, schema) = TestServer.parts(of: url)
        handle = PQconnectdb(connection)
        guard PQstatus(handle) == CONNECTION_OK else { throw failure }
        PQsetNoticeProcessor(handle, { _, _ in }, nil)
        try run("SET search_path TO \"\(schema)\"; SET lock_timeout = '10s'")
      }

      deinit { PQfinish(handle) }

      private var failure: Failure { Failure(description: String(cString: PQerrorMessage(handle))) }

      @discardableResult
      public func run(_ statement: String) throws -> [[String]] {
        let result = PQexec(handle, statement.replacing(/\b[xX]'([0-9A-Fa-f]*)'/) { "'\\x\($0.1)'::bytea" })
        defer { PQclear(result) }
        return try rows(result).map { $0.map(\.text) }
      }

      /// Waits until another session waits for this one's transaction.
      public func waitUntilBlocking() throws {
        let count = "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
        for _ in 0..<2000 {
          if try run(count) != [["0"]] { return }
          Thread.sleep(forTimeInterval: 0.005)
        }
        throw Failure(description: "No session waits for this one's transaction.")
      }

      /// Runs one statement with parameters in the server's binary form.
      public func query(
        _ statement: String, _ parameters: [(type: UInt32, bytes: [UInt8]?)]
      ) throws -> (names: [String], rows: [[Value]]) {
        let copies = parameters.map { parameter -> UnsafeMutablePointer<CChar>? in
          guard let bytes = parameter.bytes else { return nil }
          let copy = UnsafeMutablePointer<CChar>.allocate(capacity: max(bytes.count, 1))
          for (index, byte) in bytes.enumerated() { copy[index] = CChar(bitPattern: byte) }
          return copy
        }
        defer { for copy in copies { copy?.deallocate() } }
        let result = PQexecParams(
          handle, statement, Int32(parameters.count), parameters.map(\.type), copies.map { UnsafePointer($0) },
          parameters.map { Int32($0.bytes?.count ?? 0) }, parameters.map { _ in 1 }, 0)
        defer { PQclear(result) }
        let rows = try rows(result)
        return ((0..<PQnfields(result)).map { String(cString: PQfname(result, $0)) }, rows)
      }

      private func rows(_ result: OpaquePointer?) throws -> [[Value]] {
        guard [PGRES_TUPLES_OK, PGRES_COMMAND_OK].contains(PQresultStatus(result)) else { throw failure }
        return (0..<PQntuples(result)).map { row in
          (0..<PQnfields(result)).map { Self.value(result, row, $0) }
        }
      }

      private static func value(_ result: OpaquePointer?, _ row: Int32, _ column: Int32) -> Value {
        guard PQgetisnull(result, row, column) == 0 else { return .null }
        let text = String(cString: PQgetvalue(result, row, column))
        // The numbers of the server's built-in types.
        switch PQftype(result, column) {
        case 20, 21, 23, 26: return Int64(text).map { .integer($0) } ?? .text(text)
        case 700, 701: return Double(text).map { .double($0) } ?? .text(text)
        case 1700: return .decimal(text)
        case 16: return .integer(text == "t" ? 1 : 0)
        case 17:
          let digits = Array(text.utf8.dropFirst(2))
          let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap { index in
            UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16)
          }
          return .bytes(Data(bytes))
        default: return .text(text)
        }
      }
    }

    /// A value that a server returned.
    public enum Value {
      case null, integer(Int64), double(Double), decimal(String), text(String), bytes(Data)

      /// The value in SQLite's words.
      fileprivate var text: String {
        switch self {
        case .null: "nil"
        case .integer(let number): "\(number)"
        case .double(let number): "\(number)"
        case .decimal(let text), .text(let text): text
        case .bytes(let data): String(decoding: data, as: UTF8.self)
        }
      }
    }

    private static func runOnServer(_ statements: [String], at url: URL) throws -> [[String]] {
      let session = try Session(url)
      return try statements.reduce([]) { try session.run($1) }
    }
  #else
    private static func runOnServer(_ statements: [String], at url: URL) throws -> [[String]] {
      throw Failure(description: "libpq isn't installed.")
    }
  #endif
}
