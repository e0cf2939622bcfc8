import Foundation
package import Persist

/// The batches of a backfill, each of which is a transaction of its own.
extension OnlineConnection {
  /// Runs a batch, and again if the server has rolled it back only because of others: a batch locks rows in the order
  /// of their keys, and programs in any order.
  private func batch<T>(_ body: () throws -> T) throws -> T {
    try mapped {
      try session.repeating {
        do { return try body() } catch {
          session.rollBack()
          throw error
        }
      }
    }
  }

  /// Gives the next older rows of a table their values in the places of the second model.
  ///
  /// - Parameter limit: The maximum number of rows to look at.
  /// - Returns: The number of rows that were looked at; 0 at the end of the table.
  package func backfill(_ table: String, _ expansion: OnlineExpansion, limit: Int) throws -> Int {
    try batch {
      try session.run([
        ServerTransaction.begin, ServerSession.limitingIdleTime(ofProgramThatBeginsAgain: true),
        "SELECT \(ServerText.sharedLock(session.schema))",
      ])
      // Another program may have contracted or abandoned the migration while this one waited for the lock.
      guard let record = try OnlineRecord(session), record.state == .expanded else {
        try session.run(["COMMIT"])
        return 0
      }
      var progress = try OnlineRecord.progress(session)
      let reached = progress[table]
      do {
        let result = try session.query(
          OnlineStatements.backfill(table, expansion, after: reached ?? Int64.min, limit: limit))
        let count = Int(clamping: result.integer(0, 1))
        if count > 0 {
          progress[table] = result.integer(0, 0)
          try session.run([try OnlineRecord.write(progress)])
        }
        try session.run(["COMMIT"])
        return count
      } catch let failure as ServerFailure where failure.state == "22003" {
        let formulas = expansion.formulas.filter { $0.table == table && $0.side == .second }
        throw PersistenceError(
          .migrationFailed, at: .store(url),
          "A value of \(formulas.map(\.label).joined(separator: ", ")) leaves the range of numbers, for one of "
            + "\(limit) rows after the key \(reached ?? 0) of '\(table)'.", engineMessage: failure.message,
          fix: "Change the row and run 'persist backfill' again, or abandon the migration with 'persist abort'.")
      }
    }
  }

  /// Copies pairs of a join table to the one of the second model.
  ///
  /// - Returns: The number of copied pairs; 0 at the end.
  package func backfill(_ join: OnlineExpansion.JoinPair, limit: Int) throws -> Int {
    try batch { try session.execute(OnlineStatements.backfill(join, limit: limit)) }
  }

  /// Copies keys to the join table of the second model, or gives rows the keys of their first members.
  ///
  /// - Returns: The number of copied keys; 0 at the end.
  package func backfill(_ join: OnlineExpansion.KeyJoin, limit: Int) throws -> Int {
    try batch {
      guard join.side == .second else { return try session.execute(OnlineStatements.backfill(join, limit: limit)) }
      try session.run([ServerTransaction.begin, ServerSession.limitingIdleTime(ofProgramThatBeginsAgain: true)])
      let rows = try session.all(OnlineStatements.rowsWithoutKey(join, limit: limit)) { $0.integer($1, 0) }
      try session.run((rows.isEmpty ? [] : [OnlineStatements.assignKeys(join, of: "\(integers: rows)")]) + ["COMMIT"])
      return rows.count
    }
  }

  /// Gives members without a position in an ordered relationship of the second model the last ones.
  ///
  /// - Returns: The number of members that got a position; 0 at the end.
  package func backfill(_ positions: OnlineExpansion.Positions, limit: Int) throws -> Int {
    try batch { try session.execute(OnlineStatements.backfill(positions, limit: limit)) }
  }

  /// Computes the values of a new derived attribute in the next older rows.
  ///
  /// The rows are locked first. A trigger that computes a value at the same time locks its row too, so that the later
  /// one of both sees what the earlier one has seen.
  ///
  /// - Parameters:
  ///   - key: The greatest key that was looked at.
  ///   - limit: The maximum number of rows to look at.
  /// - Returns: The number of rows that were looked at, the greatest key, and whether a value was wrong.
  package func compute(
    _ column: DerivedColumn, after key: Int64, limit: Int
  ) throws -> (count: Int, last: Int64, isChanged: Bool) {
    try batch {
      try beginOnOwnTables()
      let rows = try session.all(
        """
        SELECT id FROM \(table: column.table) WHERE id > \(integer: key) ORDER BY id LIMIT \(number: Int64(limit)) \
        FOR NO KEY UPDATE
        """
      ) { $0.integer($1, 0) }
      guard let last = rows.last, try OnlineRecord(session)?.state == .expanded else {
        try session.run(["COMMIT"])
        return (0, key, false)
      }
      let results = try session.run([
        "\(ServerText.fill(column)) AND id > \(integer: key) AND id <= \(integer: last)", "COMMIT",
      ])
      return (rows.count, last, results.first.map { $0.changedRowCount > 0 } ?? false)
    }
  }

  /// Copies the next parked values to their column. They remain parked.
  ///
  /// - Parameters:
  ///   - key: The greatest key that was looked at.
  ///   - limit: The maximum number of values to look at.
  /// - Returns: The number of values that were looked at, 0 at the end, and the greatest key.
  package func restore(
    _ returning: ReturningValues, after key: Int64, limit: Int
  ) throws -> (count: Int, last: Int64) {
    try batch {
      try beginOnOwnTables()
      guard try OnlineRecord(session)?.state == .expanded else {
        try session.run(["COMMIT"])
        return (0, key)
      }
      let result = try session.query(ServerText.restorePart(returning, after: key, limit: limit))
      let (last, count) = (result.integer(0, 0), Int(clamping: result.integer(0, 1)))
      try session.run(["COMMIT"])
      return (count, last)
    }
  }

  /// Begins a transaction whose statements name tables without their schema.
  private func beginOnOwnTables() throws {
    try session.run([
      ServerTransaction.begin, ServerSession.limitingIdleTime(ofProgramThatBeginsAgain: true),
      "SET LOCAL search_path TO \(schema: ()), pg_temp",
      "SELECT \(ServerText.sharedLock(session.schema))",
    ])
  }
}

extension ServerSession {
  /// Runs `body`, and again as long as the server ends it only because of others, which happens rarely.
  func repeating<T>(_ body: () throws -> T) throws -> T {
    for _ in 0..<20 {
      do { return try body() } catch let failure as ServerFailure where failure.isRepeatable {
        Thread.sleep(forTimeInterval: Double.random(in: 0.05...0.15))
      }
    }
    return try body()
  }
}
