import Foundation

/// The connections of one store: one that writes, and readers that are opened as they are needed.
///
/// In WAL mode readers and the writer don't wait for each other, and a reader sees one state of the store for as long
/// as its transaction lasts. A store in memory has one connection for both.
///
/// `@unchecked Sendable`: the lists of readers and the closed flag are touched only while `condition` is locked; a
/// reader is out of the list while a thread uses it, so that no other can; the writer is used only by the thread whose
/// turn it is. Neither may be acquired twice by one thread: no body calls back into the pool. The watch is set before
/// the pool is shared.
final class SQLiteConnectionPool: @unchecked Sendable {
  /// How many readers there are at most; more threads wait for one of them.
  static let maximumReaders = StoreThreads.readingLanes

  let url: URL?
  let isReadOnly: Bool
  let options: StoreOptions
  private let condition = NSCondition()
  private var idle: [Reader] = []
  private var readerCount = 0
  private var isClosed = false
  private let turn = WritingTurn()
  /// Nil where the store is only read.
  private let writer: SQLiteConnection?
  /// The writer's ``SQLiteConnection/dataVersion`` after its last commit, or when it looked at the store first.
  private var writtenVersion: UInt32?
  /// Notices what other programs do to the store; nil until the store is known, and in memory.
  private(set) var watch: StoreWatch?

  /// A connection that reads, and what the files were like when it was opened.
  private struct Reader {
    let connection: SQLiteConnection
    let files: StoreFilesState?
  }

  /// Opens the store: the writer, or the first reader.
  ///
  /// - Parameters:
  ///   - url: the store's file; nil for a store in memory.
  ///   - creates: whether to make the file where there is none.
  init(_ url: URL?, options: StoreOptions, creates: Bool = false) throws {
    self.url = url
    self.options = options
    isReadOnly = options.isReadOnly && url != nil
    if isReadOnly {
      writer = nil
      idle = [try Self.openReader(url, options)]
      readerCount = 1
    } else {
      writer = try SQLiteConnection(
        url, mode: url == nil ? .memory : creates ? .create : .readWrite, options: options)
    }
  }

  /// Reads in one transaction: everything that `body` reads is of the same moment.
  @discardableResult
  func read<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    try withReader { connection in try connection.readTransaction { try body(connection) } }
  }

  /// Reads with a single statement, which is a transaction of its own.
  @discardableResult
  func readOnce<T>(_ body: (SQLiteConnection) throws -> T) throws -> T { try withReader(body) }

  /// Reads with the connection that was opened with the pool, while nobody else has the pool: another would parse the
  /// schema once more.
  func readBeforeOthers<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    if isReadOnly { return try readOnce(body) }
    return try withWriter { connection in
      let result = try body(connection)
      writtenVersion = connection.dataVersion
      return result
    }
  }

  /// Writes in one transaction, or not at all where `body` throws.
  ///
  /// - Throws: ``PersistenceError/Code/incompatibleModel`` where another program has migrated the store,
  ///   ``PersistenceError/Code/storeExchanged`` where its file was deleted or exchanged; and what `body` throws.
  @discardableResult
  func write<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    try withWriter { connection in
      let result = try explaining(connection) {
        try connection.transaction {
          try requireUnchanged(connection)
          return try body(connection)
        }
      }
      writtenVersion = connection.dataVersion
      return result
    }
  }

  /// Looks at the store from now on whenever others may have changed it.
  func setWatch(_ watch: StoreWatch) {
    self.watch = watch
    if let url { OpenStoreFiles.add(url, of: self) }
  }

  /// Within a writing transaction, where nobody else can change anything any more.
  private func requireUnchanged(_ connection: SQLiteConnection) throws {
    guard let watch else { return }
    if connection.hasMoved { throw watch.moved }
    if connection.dataVersion != writtenVersion { try watch.check(connection) }
  }

  /// Where something fails because another program migrated the store, says so.
  private func explaining<T>(_ connection: SQLiteConnection, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as PersistenceError {
      if [.sqlite, .storeOpenFailed, .constraintConflict].contains(error.code) { try watch?.check(connection) }
      throw error
    }
  }

  /// The writer without a transaction, for what can't run in one.
  @discardableResult
  func withWriter<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    guard let writer else {
      throw PersistenceError(
        .storeReadOnly, at: .store(url), "The store was opened for reading only.",
        fix: "Open it without isReadOnly to write.")
    }
    if WriteReservation.isHeld(of: self) { return try writer.waiting { try body(writer) } }
    let wait = try beginTurn(options.busyTimeout)
    defer { turn.end() }
    try requireOpen()
    return try writer.waiting(wait) { try body(writer) }
  }

  /// Waits for the right to write, which another thread then uses.
  ///
  /// - Parameter limit: bounds the wait for this program and for others.
  func reserveWriting(within limit: Duration) throws -> WriteReservation? {
    guard let writer else { return nil }
    let wait = try beginTurn(limit) ?? BoundedWait(limit)
    do {
      try requireOpen()
      try writer.waiting(wait) { try writer.beginReservedTransaction() }
    } catch {
      turn.end()
      throw error
    }
    return WriteReservation(of: self) { [turn] in
      writer.endReservedTransaction()
      turn.end()
    }
  }

  /// Reads with the one connection of a store in memory, however long others use it.
  private func withSharedWriter<T>(_ writer: SQLiteConnection, _ body: (SQLiteConnection) throws -> T) throws -> T {
    if WriteReservation.isHeld(of: self) { return try body(writer) }
    _ = turn.begin { nil }
    defer { turn.end() }
    try requireOpen()
    return try body(writer)
  }

  /// Waits until nobody else writes through this pool.
  ///
  /// - Returns: the wait, for what it leaves of the time; nil where there was none.
  @discardableResult
  private func beginTurn(_ limit: Duration) throws -> BoundedWait? {
    var wait: BoundedWait?
    let state = turn.begin {
      let begun = BoundedWait(limit)
      wait = begun
      return begun
    }
    switch state {
    case .goingOn: return wait
    case .cancelled: throw CancellationError()
    case .over:
      throw PersistenceError(
        .storeBusy, at: .store(url), "The store has been written by other parts of this program all the time.",
        fix: "Try again, wait longer with the option busyTimeout, or keep transactions short.")
    }
  }

  /// Runs `body` while nobody else writes through this pool, and then closes it, so that no write comes between.
  ///
  /// Where `body` throws, the pool stays open.
  func closing<T>(_ body: () throws -> T) throws -> T {
    try beginTurn(options.busyTimeout)
    do {
      try requireOpen()
      let result = try body()
      condition.lock()
      isClosed = true
      condition.unlock()
      turn.end()
      close()
      return result
    } catch {
      turn.end()
      throw error
    }
  }

  /// Reads while no program writes to the store, as long as `body` lasts.
  ///
  /// - Parameter hasWriteLock: whether the caller runs within ``closing(_:)``, which holds this pool's own writers off.
  func readWhileNobodyWrites<T>(hasWriteLock: Bool = false, _ body: (SQLiteConnection) throws -> T) throws -> T {
    guard let writer else { return try readOnce(body) }
    if !hasWriteLock { try beginTurn(options.busyTimeout) }
    defer { if !hasWriteLock { turn.end() } }
    try requireOpen()
    if url == nil { return try body(writer) }
    return try writer.transaction { try readOnce(body) }
  }

  /// The writer without a transaction, where nobody uses it just now; nil where somebody does.
  func withIdleWriter<T>(_ body: (SQLiteConnection) throws -> T) throws -> T? {
    guard let writer, turn.tryBegin() else { return nil }
    defer { turn.end() }
    try requireOpen()
    return try body(writer)
  }

  /// Brings the file to WAL mode, or whatever the options ask for. Nothing happens where the store is only read.
  func setFileUp() throws {
    guard !isReadOnly else { return }
    try withWriter { try $0.setFileUp(options) }
  }

  /// Closes every connection; waits for those in use. The store can't be used afterwards.
  func close() {
    condition.lock()
    isClosed = true
    condition.broadcast()
    while idle.count < readerCount { condition.wait() }
    for reader in idle { reader.connection.close() }
    idle = []
    readerCount = 0
    condition.unlock()
    _ = turn.begin { nil }
    writer?.close()
    turn.end()
    OpenStoreFiles.remove(self)
  }

  // The writer goes last: only a connection that may write takes the log away with it.
  deinit { close() }

  /// How much all connections have done together, those in use left out.
  var counts: SQLiteConnection.Counts {
    condition.lock()
    var sum = idle.reduce(into: SQLiteConnection.Counts()) { $0.add($1.connection.counts) }
    condition.unlock()
    _ = turn.begin { nil }
    if let writer { sum.add(writer.counts) }
    turn.end()
    return sum
  }

  private func withReader<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    if url == nil, let writer { return try withSharedWriter(writer, body) }
    let reader = try takeReader()
    defer { giveBack(reader) }
    let connection = reader.connection
    let result = try explaining(connection) { try connection.waiting { try body(connection) } }
    if connection.hasReloadedSchema, let watch {
      try watch.check(connection)
      connection.hasReloadedSchema = false
    }
    if let files = reader.files, files != StoreFilesState(of: url) {
      throw SQLiteConnection.changedWhileRead(url)
    }
    return result
  }

  private func takeReader() throws -> Reader {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if isClosed { throw closedError }
      if let reader = idle.popLast() {
        if reader.files == StoreFilesState(ifNeeded: reader.files, of: url) { return reader }
        // Others have changed what was read without locks: look at the files anew.
        reader.connection.close()
        readerCount -= 1
      } else if readerCount < Self.maximumReaders {
        let reader = try Self.openReader(url, options)
        // The file may not be that of the other connections any more.
        reader.connection.hasReloadedSchema = true
        readerCount += 1
        return reader
      } else {
        condition.wait()
      }
    }
  }

  private func giveBack(_ reader: Reader) {
    condition.lock()
    idle.append(reader)
    // Both a thread that waits for a reader and one that closes may be waiting.
    condition.broadcast()
    condition.unlock()
  }

  private func requireOpen() throws {
    condition.lock()
    defer { condition.unlock() }
    if isClosed { throw closedError }
  }

  private var closedError: PersistenceError {
    PersistenceError(
      .storeOpenFailed, at: .store(url), "The store was closed.", fix: "Add it to a coordinator again.")
  }

  private static func openReader(_ url: URL?, _ options: StoreOptions) throws -> Reader {
    guard options.isReadOnly, let url else {
      return Reader(connection: try SQLiteConnection(url, mode: .readOnlyBesideWriter, options: options), files: nil)
    }
    let files = StoreFilesState(of: url)
    let access = try ReadOnlyAccess(choosingFor: url)
    let connection = try SQLiteConnection(url, mode: .readOnly, options: options, access: access)
    return Reader(connection: connection, files: access.isWithoutLocks ? files : nil)
  }
}

extension SQLiteConnection.Counts {
  mutating func add(_ other: Self) {
    prepared += other.prepared
    executed += other.executed
  }
}
