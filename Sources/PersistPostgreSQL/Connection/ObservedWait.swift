import Foundation
import Persist

/// Finds out through a second connection for whose transaction a session waits.
private final class ObservedWait {
  private let address: ServerAddress
  private let question: ServerSession.Question
  /// The server's process of the session; nil if a pooler gives each transaction another one.
  private let process: Int64?
  private let interval: Duration
  private var observer: ServerSession?
  private var isImpossible = false
  private var next: ContinuousClock.Instant
  private(set) var isCancelled = false

  init(
    of session: ServerSession, _ address: ServerAddress, every interval: Duration,
    _ question: @escaping ServerSession.Question
  ) throws {
    (self.address, self.question, self.interval) = (address, question, interval)
    next = .now + interval
    let process = try session.first("SELECT pg_backend_pid()::bigint") { $0.integer($1, 0) }
    self.process = session.connection.isPooled ? nil : process
  }

  deinit { observer?.connection.close() }

  /// - Returns: Whether to continue.
  func ask() -> Bool {
    guard ContinuousClock.now >= next, !isCancelled else { return !isCancelled }
    isCancelled = !question(obstacle())
    next = .now + interval
    return !isCancelled
  }

  /// The oldest transaction that the session waits for, in words.
  private func obstacle() -> String? {
    guard !isImpossible, let process else { return nil }
    do {
      let session = try observer ?? open()
      observer = session
      return try session.first(
        """
        SELECT CASE b.pid WHEN 0 THEN 'a prepared transaction' \
        ELSE coalesce(nullif(a.application_name, ''), 'a program') END \
        || coalesce(' from ' || host(a.client_addr), '') \
        || coalesce(', in a transaction since ' || to_char(a.xact_start, 'YYYY-MM-DD HH24:MI:SS'), '') \
        FROM unnest(pg_blocking_pids(\(number: process)::int)) AS b (pid) \
        LEFT JOIN pg_stat_activity AS a ON a.pid = b.pid \
        ORDER BY a.xact_start LIMIT 1
        """
      ) { $0.text($1, 0) }
    } catch {
      isImpossible = true
      observer?.connection.close()
      observer = nil
      return nil
    }
  }

  private func open() throws -> ServerSession {
    let patience = Duration.seconds(1)
    let connection = try ServerDrivers.current.connect(to: address, waitingAtMost: patience)
    let session = ServerSession(connection: connection, schema: address.schema, url: nil)
    try session.run(["SET statement_timeout = \(number: Int64(patience / .milliseconds(1)))"])
    return session
  }
}

extension ServerSession {
  /// Called while a statement runs, with the transaction that it waits for, in words; nil if it works or if that isn't
  /// known. The statement is canceled if the result is false.
  typealias Question = (_ obstacle: String?) -> Bool

  /// Runs statements that may have to wait for others.
  ///
  /// - Parameters:
  ///   - question: Called on the same thread.
  ///   - address: The address of the server.
  ///   - interval: The time between two questions.
  ///   - body: Runs statements of this session.
  /// - Returns: False if the answer to a question was no.
  func asking(
    _ question: @escaping Question, at address: ServerAddress, every interval: Duration, _ body: () throws -> Void
  ) throws -> Bool {
    let wait = try ObservedWait(of: self, address, every: interval, question)
    connection.whileWaiting = { wait.ask() }
    defer { connection.whileWaiting = nil }
    do { try body() } catch let failure as ServerFailure where failure.state == "57014" {
      guard wait.isCancelled else { throw failure }
    }
    return !wait.isCancelled
  }
}
