import Foundation

/// The connection for writing.
extension SQLiteConnectionPool {
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
    if !hasWriteLock { try beginTurn(options.busyTimeout) }
    defer { if !hasWriteLock { turn.end() } }
    let writer = try currentWriter()
    if url == nil { return try body(writer) }
    return try writer.transaction { try readOnce(body) }
  }

  /// Provides the writer without a transaction if it is idle; returns nil otherwise.
  func withIdleWriter<T>(_ body: (SQLiteConnection) throws -> T) throws -> T? {
    guard !isReadOnly, turn.tryBegin() else { return nil }
    defer { turn.end() }
    let writer = try currentWriter()
    canLendWriter = false
    return try body(writer)
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
