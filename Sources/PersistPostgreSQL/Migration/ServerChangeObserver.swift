import Foundation
import Persist

/// Observes the statements of a migration through a second connection, while the first one waits for them.
///
/// The second connection is opened when a statement takes long. If it can't be, or if its questions fail, statements
/// count when they have ended.
final class ServerChangeObserver {
  /// A statement that can be observed.
  struct Statement {
    let course: StatementCourse
    /// The server's process that creates an index; nil for a statement that lets the database grow.
    var process: Int64?
  }

  private let address: ServerAddress
  private var session: ServerSession?
  private var isImpossible = false
  private var next = ContinuousClock.now
  /// The running question; nil if nobody asks.
  private var question: Question?
  /// Whether the answer to it was no.
  private(set) var isCancelled = false

  private struct Question {
    let rows: Int64
    let shouldContinue: (Int64) -> Bool
    let start = ContinuousClock.now
    var progress = EstimatedProgress()
    var done: Int64 = 0
    /// The size of the database when it was first observed, and its growth since then.
    var first: (size: Int64, growth: ObservedGrowth)?
  }

  init(_ address: ServerAddress) { self.address = address }

  deinit { session?.connection.close() }

  var isAsked: Bool { question != nil }

  /// - Parameters:
  ///   - rows: The approximate number of rows that the statement processes.
  ///   - shouldContinue: Called when there is progress, with the number of rows done.
  func begin(rows: Int64, asking shouldContinue: @escaping (Int64) -> Bool) {
    (question, isCancelled) = (Question(rows: rows, shouldContinue: shouldContinue), false)
  }

  func end() { question = nil }

  /// Observes the running statement.
  ///
  /// - Returns: Whether to continue.
  func observe(_ statement: Statement) -> Bool {
    guard var question, !isImpossible, ContinuousClock.now >= next else { return true }
    do {
      let session = try session ?? open()
      self.session = session
      let start = ContinuousClock.now
      let time = (start - question.start) / .seconds(1)
      let position = try position(of: statement, &question, at: time, session)
      // Pauses six times as long as the question took, however many files the database has.
      next = start + (ContinuousClock.now - start) * 6
      if let position {
        let fraction = question.progress.advance(to: position, at: time)
        let done = Int64(fraction * Double(question.rows))
        // Only progress is reported.
        if done > question.done {
          question.done = done
          isCancelled = !question.shouldContinue(done)
        }
      }
      self.question = question
      return !isCancelled
    } catch {
      isImpossible = true
      session?.connection.close()
      session = nil
      return true
    }
  }

  /// - Returns: Nil before the statement has begun.
  private func position(
    of statement: Statement, _ question: inout Question, at time: Double, _ session: ServerSession
  ) throws -> StatementCourse.Position? {
    guard let process = statement.process else {
      guard let size = try session.first(Self.size, { $0.integer($1, 0) }) else { return nil }
      var first = question.first ?? (size, ObservedGrowth(statement.course))
      defer { question.first = first }
      return first.growth.position(growth: size - first.size, at: time)
    }
    return try session.first(Self.progress(ofProcess: process)) { result, row in
      func fraction(_ column: Int) -> Double {
        Double(result.integer(row, column)) / Double(max(result.integer(row, column + 1), 1))
      }
      let phase = result.text(row, 0)
      if phase.contains("sorting") { return statement.course.position(part: 1, fraction: 0) }
      if phase.contains("loading") { return statement.course.position(part: 2, fraction: fraction(3)) }
      return statement.course.position(part: 0, fraction: fraction(1))
    }
  }

  private func open() throws -> ServerSession {
    let connection = try ServerDrivers.current.connect(to: address, waitingAtMost: Self.patience)
    let session = ServerSession(connection: connection, schema: address.schema, url: nil)
    try session.run(["SET statement_timeout = \(number: Int64(Self.patience / .milliseconds(1)))"])
    return session
  }

  /// The time after which a question counts as impossible.
  private static let patience = Duration.seconds(1)

  /// - SeeAlso: <https://www.postgresql.org/docs/current/progress-reporting.html>
  private static func progress(ofProcess process: Int64) -> ServerText {
    """
    SELECT phase, blocks_done, blocks_total, tuples_done, tuples_total FROM pg_stat_progress_create_index \
    WHERE pid = \(number: process)
    """
  }

  /// Rows that are written anew are in a file that others can't see, except in the size of the whole.
  private static let size: ServerText = "SELECT pg_database_size(current_database())"
}
