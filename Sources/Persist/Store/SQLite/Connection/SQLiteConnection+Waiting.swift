import CSQLite

/// The waits of one connection for locks that other connections and processes hold.
struct LockWaits {
  /// How long each may last.
  let limit: Duration
  /// A wait that began elsewhere and goes on with the next lock.
  var begun: BoundedWait?
  /// The present wait.
  var current: BoundedWait?
  /// Whether cancelling the running task ends waits.
  var endWithTask = false
  /// Whether it has ended one.
  var wereCancelled = false

  init(limit: Duration) { self.limit = limit }
}

extension SQLiteConnection {
  /// Has SQLite wait for locks of others, each time for as long as the options say.
  ///
  /// SQLite's own waiting counts for a single lock and knows nothing of cancelled tasks.
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

  /// Sleeps a little before SQLite tries to get a lock again.
  ///
  /// - Parameter attempt: how often it has tried to get this lock before.
  /// - Returns: whether it is to try again.
  private func keepsWaiting(attempt: Int) -> Bool {
    if attempt == 0 {
      waits.current = waits.begun ?? BoundedWait(waits.limit)
      waits.begun = nil
    }
    guard let wait = waits.current else { return false }
    return sleeps(wait, attempt: attempt)
  }

  /// - Returns: whether the wait goes on, after a little sleep.
  private func sleeps(_ wait: BoundedWait, attempt: Int) -> Bool {
    switch wait.state {
    case .over: return false
    case .cancelled where waits.endWithTask:
      waits.wereCancelled = true
      return false
    case .cancelled, .goingOn:
      wait.sleep(beforeAttempt: attempt)
      return true
    }
  }

  /// Repeats a call until another process has set up the index of the log, for as long as the options say.
  ///
  /// A connection that may not write the index can't set it up itself. SQLite asks nobody whether to wait then, as it
  /// does for locks, and gives an error.
  ///
  /// - Parameters:
  ///   - code: the result of the first call.
  ///   - call: begins a read again from its start.
  /// - Returns: the result of the last call.
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

  /// Runs `body`, whose waits for locks end when the task that runs it is cancelled.
  ///
  /// - Parameter begun: a wait that the first of them continues.
  /// - Throws: `CancellationError` where a wait was cancelled.
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
