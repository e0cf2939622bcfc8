import CSQLite

/// Stops what a connection does, from any thread; it then throws ``PersistenceError/Code/interrupted``.
///
/// The lock makes sure that the connection isn't closed meanwhile: `sqlite3_interrupt` may be called from any thread,
/// but not on a connection that is gone.
///
/// - SeeAlso: <https://sqlite.org/c3ref/interrupt.html>
final class SQLiteInterruption: Sendable {
  private struct Target: @unchecked Sendable {
    // Used only for `sqlite3_interrupt`, which is safe on any thread, and only under the lock.
    var handle: OpaquePointer?
  }

  private let target: Guarded<Target>

  init(handle: OpaquePointer) { target = Guarded(Target(handle: handle)) }

  func interrupt() {
    target.withLock { if let handle = $0.handle { sqlite3_interrupt(handle) } }
  }

  /// The connection closes.
  func end() {
    target.withLock { $0.handle = nil }
  }
}
