import LinkedSQLite

/// A connection's waits for locks held by other connections and processes.
struct LockWaits {
  /// The maximum length of each wait.
  let limit: Duration
  /// A wait started elsewhere, to be continued with the next lock.
  var begun: BoundedWait?
  /// The current wait.
  var current: BoundedWait?
  /// Whether canceling the running task ends waits.
  var endWithTask = false
  /// Whether cancellation has ended a wait.
  var wereCancelled = false
  /// The time that was spent waiting, until it is reported.
  var total = Duration.zero

  init(limit: Duration) { self.limit = limit }
}

extension SQLiteConnection {
  /// Makes SQLite wait for locks held by others, each time up to the limit in the options.
  ///
  /// SQLite's built-in wait applies to a single lock and ignores task cancellation.
  ///
  /// - SeeAlso: <https://sqlite.org/c3ref/busy_handler.html>
  func waitForLocks() {
    sqlite3_busy_handler(
      handle,
      { context, attempt in
        guard let context else { return 0 }
        let connection = Unmanaged<SQLiteConnection>.fromOpaque(context).takeUnretainedValue()
        return connection.keepsWaiting(attempt: Int(attempt)) ? 1 : 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Sleeps briefly before SQLite retries acquiring a lock.
  ///
  /// - Parameter attempt: The number of previous attempts to acquire this lock.
  /// - Returns: Whether to try again.
  private func keepsWaiting(attempt: Int) -> Bool {
    if attempt == 0 {
      waits.current = waits.begun ?? BoundedWait(waits.limit)
      waits.begun = nil
    }
    guard let wait = waits.current else { return false }
    return sleeps(wait, attempt: attempt)
  }

  /// - Returns: Whether the wait continues, after a brief sleep.
  @inline(never)
  private func sleeps(_ wait: BoundedWait, attempt: Int) -> Bool {
    switch wait.state {
    case .over: return false
    case .cancelled where waits.endWithTask:
      waits.wereCancelled = true
      return false
    case .cancelled, .goingOn:
      // Others may hold the lock for a statement that ends early on request. They know nothing of other programs.
      if attempt > 0, mode != .unassisted, let url { GivingWayMark.remove(besideStoreAt: url) }
      let begun = ContinuousClock.now
      wait.sleep(beforeAttempt: attempt)
      waits.total += .now - begun
      return true
    }
  }

  /// Repeats a call until another process has initialized the index of the log, up to the limit in the options.
  ///
  /// A connection without write access to the index can't initialize it. In this case SQLite returns an error instead
  /// of calling the busy handler as it does for locks.
  ///
  /// - Parameters:
  ///   - code: The result of the first call.
  ///   - call: Restarts the read.
  /// - Returns: The result of the last call.
  func waitingForIndex(_ code: Int32, _ call: () -> Int32) -> Int32 {
    guard Self.isIndexUnready(code) else { return code }
    let wait = waits.begun ?? BoundedWait(waits.limit)
    waits.begun = nil
    var (result, attempt) = (code, 0)
    while Self.isIndexUnready(result), sleeps(wait, attempt: attempt) {
      result = call()
      attempt += 1
    }
    return result
  }

  /// Repeats a change of the journal mode until other connections have finished writing, up to the limit of waits.
  ///
  /// The change upgrades the lock of its own read, for which SQLite returns an error instead of calling the busy
  /// handler.
  func waitingForWriters<T>(_ change: () throws -> T) throws -> T {
    let wait = waits.begun ?? BoundedWait(waits.limit)
    var attempt = 0
    while true {
      do {
        return try change()
      } catch let error as PersistenceError where error.code == .storeBusy && sleeps(wait, attempt: attempt) {
        waits.begun = nil
        attempt += 1
      }
    }
  }

  /// Runs `body`, ending its waits for locks if the task that runs it is canceled.
  ///
  /// - Parameter begun: A wait that the first of them continues.
  /// - Throws: `CancellationError` if a wait was canceled.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  func waiting<T>(_ begun: BoundedWait? = nil, _ body: () throws -> T) throws -> T {
    waits.begun = begun
    waits.endWithTask = true
    defer { waits.endWithTask = false }
    do {
      return try body()
    } catch let error as PersistenceError where error.code == .storeBusy && waits.wereCancelled {
      waits.wereCancelled = false
      throw CancellationError()
    }
  }
}
