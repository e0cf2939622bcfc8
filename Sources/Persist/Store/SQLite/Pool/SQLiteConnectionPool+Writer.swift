import Foundation

/// The connection for writing.
extension SQLiteConnectionPool {
  /// Writes in one transaction, which is rolled back if `body` throws.
  ///
  /// - Parameter endsReservation: Whether a reservation that the calling code holds is used up.
  /// - Throws: ``PersistenceError/Code/incompatibleModel`` if another program has migrated the store,
  ///   ``PersistenceError/Code/storeExchanged`` if its file was deleted or replaced; and the errors of `body`.
  @discardableResult
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  func write<T>(endingReservation endsReservation: Bool = true, _ body: (SQLiteConnection) throws -> T) throws -> T {
    try following { pool in
      try pool.withOwnWriter { connection in
        pool.canLendWriter = false
        let commits = endsReservation || !connection.isInReservedTransaction
        func write() throws -> T {
          try pool.requireUnchanged(connection)
          guard commits, let hook = pool.commitHook else { return try body(connection) }
          let result = try body(connection)
          try hook.run()
          return result
        }
        let result = try pool.explaining(connection) {
          try endsReservation ? connection.transaction(write) : connection.transactionKeepingReservation(write)
        }
        pool.writtenVersion = connection.dataVersion
        return result
      }
    }
  }

  /// Checks the store within a write transaction, where no other connection can change it.
  func requireUnchanged(_ connection: SQLiteConnection) throws {
    guard let watch else { return }
    try watch.requireSameFiles(connection, isThorough: true)
    if connection.dataVersion != writtenVersion { try watch.check(connection) }
  }

  /// Provides the writer without a transaction, for work that can't run in one.
  @discardableResult
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  func withWriter<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    try following { try $0.withOwnWriter(body) }
  }

  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  private func withOwnWriter<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    guard !isReadOnly else {
      throw PersistenceError(
        .storeReadOnly, at: .store(url), "The store was opened for reading only.",
        fix: "Open it without isReadOnly to write.")
    }
    defer { shared.recordChange() }
    if WriteReservation.isHeld(of: self), let writer { return try writer.waiting { try observed(writer, body) } }
    let wait = try beginTurn(options.busyTimeout)
    defer { turn.end() }
    let writer = try currentWriter()
    return try writer.waiting(wait) { try observed(writer, body) }
  }

  /// Runs `body` while no other thread writes through this pool, for writing with a connection outside the pool.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  func withTurn<T>(_ body: (SQLiteConnectionPool) throws -> T) throws -> T {
    try following { pool in
      defer { pool.shared.recordChange() }
      try pool.beginTurn(pool.options.busyTimeout)
      defer { pool.turn.end() }
      try pool.requireOpen()
      return try body(pool)
    }
  }

  /// Waits until no other thread writes through this pool.
  ///
  /// - Parameter joining: The caller's save, which the thread that has the turn may run; nil for other writes.
  /// - Returns: The wait, for its remaining time; nil if there was none.
  @discardableResult
  @inline(never)
  func beginTurn(_ limit: Duration, joining: JoiningWrite? = nil) throws -> BoundedWait? {
    var (wait, begun): (BoundedWait?, ContinuousClock.Instant?)
    let state = turn.begin(joining: joining) {
      begun = .now
      wait = BoundedWait(limit)
      return wait
    }
    if let instrument, let begun { instrument.waited(for: .writer, .now - begun) }
    switch state {
    case .goingOn: return wait
    case .cancelled: throw CancellationError()
    case .over:
      throw PersistenceError(
        .storeBusy, at: .store(url), "Other parts of this program kept the store busy with writes.",
        fix: "Try again, set a longer busyTimeout, or keep transactions short.")
    }
  }

  /// The connection for writing, for the thread that holds the turn; opened if there is none.
  func currentWriter() throws -> SQLiteConnection {
    try requireOpen()
    if let writer { return writer }
    // The name may have become another file's since the store was opened.
    try requireSameFile()
    let connection = try SQLiteConnection(url, mode: .readWrite, options: options)
    try requireSameFile()
    if isFileSetUp { try connection.setFileUp(options) }
    (writer, writtenVersion) = (connection, nil)
    return connection
  }

  private func requireSameFile() throws {
    if let watch, !OpenStoreFiles.isCurrent(self, at: url) { throw watch.moved }
  }

  /// Makes the connection that opened the store a reader, if it has done nothing else and isn't in use.
  func lendWriter() -> Reader? {
    guard turn.tryBegin() else { return nil }
    defer { turn.end() }
    guard canLendWriter, let connection = writer, !connection.hasMoved else { return nil }
    (writer, canLendWriter) = (nil, false)
    return Reader(connection: connection, files: nil)
  }

  /// Acquires a reservation to write, for use by another thread.
  ///
  /// - Parameters:
  ///   - limit: The maximum total wait, for this program and for others.
  ///   - patience: The time that other threads wait for the reservation to be used before they take it back.
  func reserveWriting(within limit: Duration, patience: Duration) throws -> WriteReservation? {
    try following { try $0.reserveOwnWriting(within: limit, patience: patience) }
  }

  private func reserveOwnWriting(within limit: Duration, patience: Duration) throws -> WriteReservation? {
    guard !isReadOnly else { return nil }
    let wait = try beginTurn(limit) ?? BoundedWait(limit)
    do {
      let writer = try currentWriter()
      canLendWriter = false
      try writer.waiting(wait) { try writer.beginReservedTransaction() }
      let reservation = WriteReservation(of: self) { [turn] in
        writer.endReservedTransaction()
        turn.end()
      }
      turn.reserve(for: reservation, patience)
      return reservation
    } catch {
      turn.end()
      throw error
    }
  }

  /// Reads while no program writes to the store, for the duration of `body`.
  ///
  /// - Parameter hasWriteLock: Whether the caller runs within ``closing(_:)``, which blocks this pool's own writers.
  func readWhileNobodyWrites<T>(hasWriteLock: Bool = false, _ body: (SQLiteConnection) throws -> T) throws -> T {
    if isReadOnly { return try readOnce(body) }
    if hasWriteLock { return try readWithTurn(body) }
    return try following { pool in
      try pool.beginTurn(pool.options.busyTimeout)
      defer { pool.turn.end() }
      return try pool.readWithTurn(body)
    }
  }

  private func readWithTurn<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    let writer = try currentWriter()
    if url == nil { return try body(writer) }
    return try writer.transaction { try readOnce(body) }
  }

  /// Provides the writer without a transaction if it is idle; returns nil otherwise.
  func withIdleWriter<T>(_ body: (SQLiteConnection) throws -> T) throws -> T? {
    try following { pool in
      guard !pool.isReadOnly, pool.turn.tryBegin() else { return nil }
      defer { pool.turn.end() }
      let writer = try pool.currentWriter()
      pool.canLendWriter = false
      return try body(writer)
    }
  }

  /// Switches the file to WAL mode, or the mode in the options. Does nothing for a read-only store.
  func setFileUp() throws {
    guard !isReadOnly else { return }
    try withWriter { connection in
      try connection.setFileUp(options)
      isFileSetUp = true
    }
  }

  /// Keeps the present writer as the only connection that writes, because it has further settings.
  func keepWriter() throws { try withWriter { _ in canLendWriter = false } }
}
