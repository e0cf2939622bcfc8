import Foundation
import Persist

/// Locks that others don't queue behind.
///
/// Readers of a table wait behind a statement that waits for an exclusive lock, even if the table is only being read.
/// Therefore such a statement waits for a moment, lets the others pass, and tries again.
extension ServerSession {
  /// The maximum time of one attempt.
  static let briefWait = Duration.milliseconds(200)
  /// The minimum wait for vacuums. The server ends an automatic one if somebody has waited for its lock for as long as
  /// its `deadlock_timeout`, a second by default.
  ///
  /// - SeeAlso: <https://www.postgresql.org/docs/15/routine-vacuuming.html#AUTOVACUUM>
  private static let vacuumWait = Duration.seconds(2)

  /// Lets the server end the transaction if the program does nothing for some seconds, such as one that is stopped or
  /// suspended: others would wait until it goes on. A shorter limit of the server's own remains.
  ///
  /// - Parameter beginsAgain: Whether the program begins again by itself. The limit then is shorter than the time that
  ///   saves and reads of others wait by default; otherwise a busy machine gets more.
  /// - SeeAlso: <https://www.postgresql.org/docs/15/runtime-config-client.html#GUC-IDLE-IN-TRANSACTION-SESSION-TIMEOUT>
  static func limitingIdleTime(ofProgramThatBeginsAgain beginsAgain: Bool) -> ServerText {
    let limit: Int64 = beginsAgain ? 3000 : 10_000
    return """
      SELECT set_config(name, \(text: "\(limit)"), true) FROM pg_settings \
      WHERE CASE WHEN name = 'idle_in_transaction_session_timeout' \
      THEN setting::bigint NOT BETWEEN 1 AND \(number: limit) ELSE false END
      """
  }

  /// Locks tables; the caller holds the transaction.
  ///
  /// - Parameter wait: The maximum time of all attempts.
  func lock(_ locks: TableLocks, within wait: Duration) throws {
    let locks = locks.sorted
    guard !locks.isEmpty else { return }
    let deadline = ContinuousClock.now + wait
    // Nobody who reads or writes waits for this lock, or behind it.
    _ = try run(
      ["SET LOCAL lock_timeout = \(number: ServerText.lockTimeout(max(wait, Self.vacuumWait)))"]
        + locks.map { "LOCK TABLE \(table: $0.table) IN SHARE UPDATE EXCLUSIVE MODE" as ServerText })
    // The server's limit is that of one lock, and the time of all together matters: those that an attempt has already
    // make others wait.
    let start: ServerText = "SELECT set_config('persist.locking', (\(Self.milliseconds))::text, true)"
    let remaining: ServerText = """
      SELECT set_config('lock_timeout', greatest(1, current_setting('persist.locking')::bigint \
      + \(number: ServerText.lockTimeout(min(Self.briefWait, wait))) - \(Self.milliseconds))::text, true)
      """
    let statements = locks.flatMap { lock -> [ServerText] in
      [remaining, "LOCK TABLE \(table: lock.table) IN \(lock.mode.sql) MODE"]
    }
    let left = max(min(Self.briefWait, wait), ContinuousClock.now.duration(to: deadline))
    try waitingBriefly(within: left) { _ = try run([start] + statements) }
  }

  /// The present time.
  private static let milliseconds: ServerText = "(1000 * extract(epoch FROM clock_timestamp()))::bigint"

  /// Runs statements that may wait for locks. If a wait is too long, they are rolled back and run again.
  ///
  /// - Parameter wait: The maximum time of all attempts.
  /// - Throws: ``ServerFailure`` of the last attempt.
  func waitingBriefly<T>(within wait: Duration, _ body: () throws -> T) throws -> T {
    let deadline = ContinuousClock.now + wait
    let brief = ServerText.lockTimeout(min(Self.briefWait, wait))
    while true {
      try run(["SAVEPOINT persist_wait", "SET LOCAL lock_timeout = \(number: brief)"])
      do {
        let result = try body()
        try run([
          "RELEASE SAVEPOINT persist_wait", "SET LOCAL lock_timeout = \(number: ServerText.lockTimeout(wait))",
        ])
        return result
      } catch let failure as ServerFailure where failure.isOfLock && ContinuousClock.now < deadline {
        // The former value of the setting returns, too.
        try run(["ROLLBACK TO SAVEPOINT persist_wait", "RELEASE SAVEPOINT persist_wait"])
        Thread.sleep(forTimeInterval: Double.random(in: 0.05...0.15))
      }
    }
  }
}

extension ServerFailure {
  /// Whether a wait for a lock was too long.
  var isOfLock: Bool { state == "55P03" }
}

extension SchemaChange {
  /// The table whose definition changes, which takes a lock that others can't read beside; nil if none has to exist.
  var redefinedTable: String? {
    switch self {
    case .createIndex(let index): index.table
    case .dropTable(let table), .renameTable(let table, _), .renameColumn(_, _, let table), .addColumn(_, _, let table),
      .dropColumn(_, let table):
      table
    case .rebuildTable(let rebuild): rebuild.definition.name
    default: nil
    }
  }
}
