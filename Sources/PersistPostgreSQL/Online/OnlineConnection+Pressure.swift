import Persist

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
