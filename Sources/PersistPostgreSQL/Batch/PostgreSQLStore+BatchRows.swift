import Persist

/// The rows that a batch changes.
extension PostgreSQLStore {
  /// A lock of a row, as strong as that of the statement that writes it.
  enum RowLock {
    case update, deletion

    /// The end of a `SELECT`.
    var text: ServerText {
      switch self {
      case .update: " FOR NO KEY UPDATE OF r0"
      case .deletion: " FOR UPDATE OF r0"
      }
    }
  }

  /// The clauses of a subquery that selects the rows to change, from `FROM`.
  ///
  /// A statement that had to wait for a row checks only its own conditions against the row's new version, and not those
  /// of its subqueries: the row might no longer match the predicate, like a job that another program has claimed. A
  /// subquery that locks the rows checks them itself. Like saves, it locks them in the order of their keys, so that no
  /// two transactions wait for each other.
  ///
  /// - SeeAlso: <https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED>
  func clauses(_ query: RowQuery, _ plan: RowPlan, locking lock: RowLock) throws -> ServerText {
    let clauses = try clauses(query, plan)
    return query.predicate == nil ? clauses : "\(clauses) ORDER BY r0.id\(lock.text)"
  }
}
