/// A store that continues in another file.
extension SQLiteConnectionPool {
  /// Thrown by a closed pool if the store continues with another one. Callers outside the pool never see it.
  struct Continued: Error {
    let pool: SQLiteConnectionPool
  }

  /// Runs `body` with this pool, or with the one that took its place while the caller waited for it.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  func following<T>(_ body: (SQLiteConnectionPool) throws -> T) throws -> T {
    var pool = self
    while true {
      do {
        return try body(pool)
      } catch let continued as Continued {
        pool = continued.pool
      }
    }
  }

  /// The error of a context that is pinned to a state of the former file.
  func lostState(to successor: SQLiteConnectionPool) -> PersistenceError {
    PersistenceError(
      .queryGenerationExpired, at: .store(successor.url),
      "The store continues in another file, and the context is pinned to a state of the former one.",
      fix: "Refresh the context's objects, or pin it again.")
  }
}
