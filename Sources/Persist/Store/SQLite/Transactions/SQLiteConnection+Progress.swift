import LinkedSQLite
import Foundation

extension SQLiteConnection {
  /// Runs `body`, periodically asking whether to continue within long statements.
  ///
  /// SQLite counts the steps of table scans, so that the number of rows processed by a statement is known while it
  /// runs, without splitting the work.
  ///
  /// - Parameters:
  ///   - expected: The approximate number of rows that the first statement processes.
  ///   - indexes: The number of indexes with as many entries that the following statements create.
  ///   - shouldContinue: Called with the approximate number of rows done, plus that of the entries of the indexes; it
  ///     never decreases. Nil to run without asking.
  /// - Throws: ``PersistenceError/Code/interrupted`` if the answer was no.
  /// - SeeAlso: <https://sqlite.org/c3ref/progress_handler.html>,
  ///   <https://sqlite.org/c3ref/c_stmtstatus_counter.html>
  package func reportingProgress<T>(
    rows expected: Int64, indexes: Int = 0, _ shouldContinue: ((Int64) -> Bool)?, _ body: () throws -> T
  ) throws -> T {
    guard let shouldContinue else { return try body() }
    return try withoutActuallyEscaping(shouldContinue) { shouldContinue in
      let question = RunningWork(handle, expected: expected, indexes: indexes, shouldContinue)
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

  /// Runs `body`, whose statements end early on request; SQLite then rolls back their transaction.
  ///
  /// Some work of SQLite's asks for nothing until it is done: dropping a table or an index, sorting as many entries of
  /// a new index as there is cache, and the commit.
  ///
  /// - Parameter shouldEnd: Called after every few thousand instructions, which is several times a millisecond.
  /// - Returns: Nil if a statement was ended.
  func endingEarly<T>(if shouldEnd: () -> Bool, _ body: () throws -> T) throws -> T? {
    try withoutActuallyEscaping(shouldEnd) { shouldEnd in
      let question = EndingQuestion(shouldEnd)
      sqlite3_progress_handler(
        handle, EndingQuestion.interval,
        { context in
          guard let context else { return 0 }
          return Unmanaged<EndingQuestion>.fromOpaque(context).takeUnretainedValue().ask() ? 1 : 0
        }, Unmanaged.passUnretained(question).toOpaque())
      defer { sqlite3_progress_handler(handle, 0, nil, nil) }
      return try withExtendedLifetime(question) {
        do {
          return try body()
        } catch is PersistenceError where question.answer {
          return nil
        }
      }
    }
  }

  /// The question whether to end a statement, and the answer.
  private final class EndingQuestion {
    static let interval: Int32 = 5_000
    private let shouldEnd: () -> Bool
    private(set) var answer = false

    init(_ shouldEnd: @escaping () -> Bool) { self.shouldEnd = shouldEnd }

    func ask() -> Bool {
      answer = answer || shouldEnd()
      return answer
    }
  }

  /// The progress of the running statements.
  private final class RunningWork {
    private let handle: OpaquePointer
    private let expected: Int64
    private let indexes: Int
    private let shouldContinue: (Int64) -> Bool
    private var done: Int64 = 0
    /// The number of instructions in statements that don't scan a table.
    private var instructions: Int64 = 0
    private var hasScanned = false
    /// The number of instructions between two calls.
    static let interval: Int64 = 100_000
    /// The number of instructions with which an index gets an entry: 8, one for each column, and two if it is unique.
    private static let instructionsPerEntry = 9.5

    init(_ handle: OpaquePointer, expected: Int64, indexes: Int, _ shouldContinue: @escaping (Int64) -> Bool) {
      self.handle = handle
      self.expected = max(expected, 1)
      self.indexes = indexes
      self.shouldContinue = shouldContinue
      // Reused statements continue counting.
      forEachStatement { _ = sqlite3_stmt_status($0, SQLITE_STMTSTATUS_FULLSCAN_STEP, 1) }
    }

    func countInterval() -> Bool {
      var scanned: Int64 = 0
      forEachStatement { statement in
        guard sqlite3_stmt_busy(statement) != 0 else { return }
        scanned += Int64(sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0))
      }
      if scanned > 0 {
        hasScanned = true
        done = max(done, min(scanned, expected))
      } else {
        instructions += Self.interval
        let isIndexing = hasScanned && indexes > 0
        let entries = entries(among: isIndexing ? expected * Int64(indexes) : expected)
        done = max(done, isIndexing ? expected + entries : entries)
      }
      return shouldContinue(done)
    }

    /// An estimate for statements that don't scan, such as creating an index: proportional to the instructions as long
    /// as these don't show that the estimate is too high, and then closer and closer to the end.
    private func entries(among count: Int64) -> Int64 {
      let part = Double(instructions) / (Self.instructionsPerEntry * Double(count))
      return Int64(Double(count) * (part < 0.9 ? part : 1 - 0.1 * exp(-(part - 0.9) / 0.1)))
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
