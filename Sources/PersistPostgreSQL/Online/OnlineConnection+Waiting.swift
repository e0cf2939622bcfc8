import Foundation
package import Persist

/// The statements of a backfill that nobody waits for, and that wait for the transactions of others for as long as
/// these last: an index is complete only once no transaction can read a state from before it.
extension OnlineConnection {
  /// Called twice a second while a statement runs, with the transaction that it waits for, in words; nil if it works.
  /// The statement is canceled if the result is false.
  package typealias Question = (_ obstacle: String?) -> Bool

  /// Validates a foreign key without keeping others from writing. Rows that violate it already remain as they are, as
  /// after a migration in one step.
  ///
  /// - Returns: False if the answer to a question was no.
  package func validate(_ key: ForeignKeyDefinition, asking question: Question?) throws -> Bool {
    try asking(question) {
      do {
        try session.run([
          "ALTER TABLE \(table: key.table) VALIDATE CONSTRAINT \(name: ServerText.name(of: key))"
        ])
      } catch let failure as ServerFailure where failure.state == "23503" {}
    }
  }

  /// Creates an index beside the work of others.
  ///
  /// - Returns: False if the answer to a question was no.
  /// - Throws: ``PersistenceError/Code/constraintConflict`` if rows violate its uniqueness.
  package func make(_ index: IndexDefinition, asking question: Question?) throws -> Bool {
    try asking(question) {
      do {
        try session.makeConcurrently(index, waitingAtMost: nil)
      } catch let failure as ServerFailure where failure.state == "23505" {
        _ = try? session.run(["DROP INDEX CONCURRENTLY IF EXISTS \(table: index.name)"])
        let columns = index.columns.map(\.name).joined(separator: "', '")
        throw PersistenceError(
          .constraintConflict, at: PersistenceError.Place(entity: index.subject?.entity, store: url),
          "Rows have equal values of '\(columns)', which have to be unique in the new model.",
          fix: "Make them differ and run 'persist backfill' again, or abandon the migration with 'persist abort'.")
      }
    }
  }

  /// - Returns: False if the answer to a question was no.
  private func asking(_ question: Question?, _ body: () throws -> Void) throws -> Bool {
    try mapped {
      guard let question else {
        try session.repeating(body)
        return true
      }
      let wait = try ObservedWait(of: session, address, question)
      session.connection.whileWaiting = { wait.ask() }
      defer { session.connection.whileWaiting = nil }
      do { try session.repeating(body) } catch let failure as ServerFailure where failure.state == "57014" {
        guard wait.isCancelled else { throw failure }
      }
      return !wait.isCancelled
    }
  }
}

/// The state of the server by which a backfill rests.
extension OnlineConnection {
  /// The number of bytes of the log that the slowest replica hasn't replayed yet; 0 without replicas.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the server doesn't show the user the state of its replicas.
  package func replicaLag() throws -> Int64 {
    let lags = try mapped {
      try session.all(
        "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint FROM pg_stat_replication"
      ) { result, row in result.isNull(row, 0) ? nil : result.integer(row, 0) }
    }
    let known = lags.compactMap { $0 }
    guard known.count == lags.count else {
      throw PersistenceError(
        .invalidRequest, at: .store(url), "The server doesn't show this user how far its replicas are.",
        fix: "Grant the user the role pg_monitor, or don't limit the lag of replicas.")
    }
    return known.max() ?? 0
  }

  /// The number of other sessions that run a statement in the database.
  package func activeSessionCount() throws -> Int {
    try mapped {
      try session.first(
        """
        SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'active' \
        AND backend_type = 'client backend' AND pid <> pg_backend_pid()
        """
      ) { Int(clamping: $0.integer($1, 0)) } ?? 0
    }
  }
}

/// Looks through a second connection for whom a session waits.
private final class ObservedWait {
  private static let interval = Duration.milliseconds(500)

  private let address: ServerAddress
  private let question: OnlineConnection.Question
  /// The server's process of the session; nil if a pooler gives each transaction another one.
  private let process: Int64?
  private var observer: ServerSession?
  private var isImpossible = false
  private var next = ContinuousClock.now + interval
  private(set) var isCancelled = false

  init(of session: ServerSession, _ address: ServerAddress, _ question: @escaping OnlineConnection.Question) throws {
    (self.address, self.question) = (address, question)
    let process = try session.first("SELECT pg_backend_pid()::bigint") { $0.integer($1, 0) }
    self.process = session.connection.isPooled ? nil : process
  }

  deinit { observer?.connection.close() }

  /// - Returns: Whether to continue.
  func ask() -> Bool {
    guard ContinuousClock.now >= next, !isCancelled else { return !isCancelled }
    isCancelled = !question(obstacle())
    next = .now + Self.interval
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
        SELECT coalesce(nullif(a.application_name, ''), 'a program') || coalesce(' from ' || host(a.client_addr), '') \
        || coalesce(', in a transaction since ' || to_char(a.xact_start, 'YYYY-MM-DD HH24:MI:SS'), '') \
        FROM unnest(pg_blocking_pids(\(number: process)::int)) AS b (pid) JOIN pg_stat_activity AS a ON a.pid = b.pid \
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
