import LinkedSQLite

/// Interrupts the work of a connection, from any thread; the connection then throws
/// ``PersistenceError/Code/interrupted``.
///
/// The lock ensures that the connection isn't closed in the meantime: `sqlite3_interrupt` may be called from any
/// thread, but not on a closed connection.
///
/// - SeeAlso: <https://sqlite.org/c3ref/interrupt.html>
final class SQLiteInterruption: Sendable {
  private struct Target: @unchecked Sendable {
    // Only used for `sqlite3_interrupt`, which is safe on any thread, and only under the lock.
    var handle: OpaquePointer?
  }

  private let target: LockProtected<Target>

  init(handle: OpaquePointer) { target = LockProtected(Target(handle: handle)) }

  func interrupt() {
    target.withLock { if let handle = $0.handle { sqlite3_interrupt(handle) } }
  }

  /// Called when the connection closes.
  func end() {
    target.withLock { $0.handle = nil }
  }
}

extension SQLiteConnection {
  /// Runs a read that can be monitored and canceled.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  func watched<T>(by monitor: ReadMonitor?, _ body: () throws -> T) throws -> T {
    guard let monitor else { return try body() }
    return try monitor.run(interrupting: { [interruption] in interruption.interrupt() }, body)
  }
}
