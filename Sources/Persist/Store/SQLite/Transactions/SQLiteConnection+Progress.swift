import LinkedSQLite
import Foundation

extension SQLiteConnection {
  /// Runs `body`, periodically asking whether to continue within long statements.
  ///
  /// SQLite counts the steps of table scans, so that the number of rows processed by a statement is known while it
  /// runs, without splitting the work.
  ///
  /// - Parameters:
  ///   - expected: The approximate number of rows that the statements process.
  ///   - shouldContinue: Called with the approximate number of rows done, which never decreases; nil to run without
  ///     asking.
  /// - Throws: ``PersistenceError/Code/interrupted`` if the answer was no.
  /// - SeeAlso: <https://sqlite.org/c3ref/progress_handler.html>,
  ///   <https://sqlite.org/c3ref/c_stmtstatus_counter.html>
  package func reportingProgress<T>(
    rows expected: Int64, _ shouldContinue: ((Int64) -> Bool)?, _ body: () throws -> T
  ) throws -> T {
    guard let shouldContinue else { return try body() }
    return try withoutActuallyEscaping(shouldContinue) { shouldContinue in
      let question = RunningWork(handle, expected: expected, shouldContinue)
      // SQLite calls back on this thread while a statement of this connection runs, and so only within `body`.
      sqlite3_progress_handler(
        handle, Int32(RunningWork.interval),
        { context in
          guard let context else { return 0 }
          return Unmanaged<RunningWork>.fromOpaque(context).takeUnretainedValue().countInterval() ? 0 : 1
        }, Unmanaged.passUnretained(question).toOpaque())
      defer { sqlite3_progress_handler(handle, 0, nil, nil) }
      return try withExtendedLifetime(question) { try body() }
    }
  }

  /// Runs as ``reportingProgress(rows:_:_:)`` does if the number of rows is unknown.
  package func reportingProgress<T>(_ shouldContinue: (() -> Bool)?, _ body: () throws -> T) throws -> T {
    try reportingProgress(rows: 1, shouldContinue.map { ask in { (_: Int64) in ask() } }, body)
  }

  /// The progress of the running statements.
  private final class RunningWork {
    private let handle: OpaquePointer
    private let expected: Int64
    private let shouldContinue: (Int64) -> Bool
    private var done: Int64 = 0
    private var instructions: Int64 = 0
    /// The number of instructions between two calls.
    static let interval: Int64 = 100_000

    init(_ handle: OpaquePointer, expected: Int64, _ shouldContinue: @escaping (Int64) -> Bool) {
      self.handle = handle
      self.expected = max(expected, 1)
      self.shouldContinue = shouldContinue
      // Reused statements continue counting.
      forEachStatement { _ = sqlite3_stmt_status($0, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1) }
    }

    func countInterval() -> Bool {
      instructions += Self.interval
      var scanned: Int64 = 0
      forEachStatement { statement in
        guard sqlite3_stmt_busy(statement) != 0 else { return }
        scanned += Int64(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0))
      }
      done = max(done, min(scanned > 0 ? scanned : rowsByInstructions, expected))
      return shouldContinue(done)
    }

    /// An estimate for statements that don't scan, such as creating an index, which takes about eight instructions per
    /// row: the more instructions, the closer to the end.
    private var rowsByInstructions: Int64 {
      Int64(Double(expected) * (1 - exp(-Double(instructions) / (8 * Double(expected)))))
    }

    private func forEachStatement(_ body: (OpaquePointer) -> Void) {
      var statement = sqlite3_next_stmt(handle, nil)
      while let current = statement {
        body(current)
        statement = sqlite3_next_stmt(handle, current)
      }
    }
  }
}
