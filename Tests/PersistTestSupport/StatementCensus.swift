import LinkedSQLite
public import Foundation
import Persist

/// Counts the connections to one database file and their statements, whoever opens them.
///
/// SQLite itself calls for every connection opened in the process, so that nothing needs to be passed to the code under
/// test.
public final class StatementCensus: Sendable {
  private struct State {
    var connections = 0
    var statements: [String] = []
  }

  private static let watched = LockProtected<[String: StatementCensus]>([:])
  private static let registration: Int32 = {
    let entry: @convention(c) (
      OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, OpaquePointer?
    ) -> Int32 = { handle, _, _ in
      StatementCensus.opened(handle)
      return SQLITE_OK
    }
    // SQLite declares the function without its parameters, and calls it with them.
    return sqlite3_auto_extension(unsafeBitCast(entry, to: (@convention(c) () -> Void).self))
  }()

  private let name: String
  private let state = LockProtected(State())

  /// - Parameter url: A file whose last component is used by no other test.
  public init(of url: URL) {
    name = url.lastPathComponent
    _ = Self.registration
    Self.watched.withLock { $0[name] = self }
  }

  public func end() { Self.watched.withLock { $0[name] = nil } }

  /// The number of opened connections.
  public var connections: Int { state.withLock { $0.connections } }
  /// The statements in order, without those of triggers.
  public var statements: [String] { state.withLock { $0.statements } }

  private static func census(of handle: OpaquePointer?) -> StatementCensus? {
    guard let handle, let path = sqlite3_db_filename(handle, "main") else { return nil }
    let name = URL(fileURLWithPath: String(cString: path)).lastPathComponent
    return watched.withLock { $0[name] }
  }

  private static func opened(_ handle: OpaquePointer?) {
    guard let handle, let census = census(of: handle) else { return }
    census.state.withLock { $0.connections += 1 }
    sqlite3_trace_v2(
      handle, UInt32(SQLITE_TRACE_STMT),
      { _, _, subject, text in
        guard let subject, let text else { return 0 }
        let sql = String(cString: text.assumingMemoryBound(to: CChar.self))
        // Statements run by a trigger are reported as comments.
        guard !sql.hasPrefix("--") else { return 0 }
        StatementCensus.census(of: sqlite3_db_handle(OpaquePointer(subject)))?.state.withLock {
          $0.statements.append(sql)
        }
        return 0
      }, nil)
  }
}
