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
        try session.makeConcurrently(index, blockingAtMost: options.busyTimeout)
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
      return try session.asking(question, at: address, every: .milliseconds(500)) { try session.repeating(body) }
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
