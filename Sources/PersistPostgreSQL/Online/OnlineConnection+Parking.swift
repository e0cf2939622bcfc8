package import Persist

/// Parked values that return with a backfill.
extension OnlineConnection {
  /// Lets the triggers take the further statements of the transaction for those of programs with a model.
  package func announce(_ model: ManagedObjectModel) throws {
    let digest = ServerPresence.digest(of: model)
    _ = try mapped { try session.run(["SELECT \(OnlineTriggers.announcement(of: digest))"]) }
  }

  /// Copies the next parked values to their column, in a transaction of its own. They remain parked.
  ///
  /// - Parameters:
  ///   - key: The greatest key that was looked at.
  ///   - limit: The maximum number of values to look at.
  /// - Returns: The number of values that were looked at, 0 at the end, and the greatest key.
  package func restore(
    _ returning: ReturningValues, after key: Int64, limit: Int
  ) throws -> (count: Int, last: Int64) {
    try mapped {
      try session.run([
        ServerTransaction.begin, "SET LOCAL search_path TO \(schema: ()), pg_temp",
        "SELECT \(ServerText.sharedLock(session.schema))",
      ])
      do {
        guard try OnlineRecord(session)?.state == .expanded else {
          try session.run(["COMMIT"])
          return (0, key)
        }
        let result = try session.query(ServerText.restorePart(returning, after: key, limit: limit))
        let (last, count) = (result.integer(0, 0), Int(clamping: result.integer(0, 1)))
        try session.run(["COMMIT"])
        return (count, last)
      } catch {
        session.rollBack()
        throw error
      }
    }
  }
}
