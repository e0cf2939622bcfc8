import Foundation

/// The connections of one store: a writer and readers, opened on demand.
///
/// In WAL mode readers and the writer don't wait for each other, and a reader sees one state of the store during its
/// transaction. An in-memory store has a single connection for both.
///
/// Every connection parses the schema, which takes most of the time of opening a store. Therefore the connection that
/// opens the store becomes the first reader if the store is read before it is written, and the writer otherwise.
///
/// `@unchecked Sendable`: the lists of readers and the closed flag are only accessed while `condition` is locked; a
/// reader is removed from the list while a thread uses it, so that no other thread can; the writer and the flags of its
/// state are only used by the thread that holds the turn. A thread must not acquire either twice: no body calls back
/// into the pool. The watch is set before the pool is shared.
final class SQLiteConnectionPool: @unchecked Sendable {
  /// The maximum number of readers; further threads wait for one of them.
  static let maximumReaders = StoreThreads.readingLanes
  /// ``maximumReaders``, or 1 in the pool of a held state, which no other connection would see.
  private let readerLimit: Int

  /// Whether readers are separate from the writer, and there may be several.
  var hasSeveralReaders: Bool { url != nil && readerLimit > 1 }

  /// Whether another thread can read while the calling one works: there may be several readers, and a processor is left
  /// besides that of the calling thread and those of the readers that others use.
  ///
  /// - Parameter ownReaders: The number of readers that the calling thread uses.
  func readsConcurrently(ownReaders: Int) -> Bool {
    guard hasSeveralReaders else { return false }
    condition.lock()
    defer { condition.unlock() }
    return readerCount - idle.count - ownReaders + 1 < StoreThreads.processorCount
  }

  let url: URL?
  let isReadOnly: Bool
  let options: StoreOptions
  /// The observer of the pool's work; nil for none.
  let instrument: (any StoreInstrument)?
  private let condition = NSCondition()
  private var idle: [Reader] = []
  private var readerCount = 0
  private var isClosed = false
  /// The pool that takes this one's place after it was closed: set together with the flag, and then only read.
  private var successor: SQLiteConnectionPool?
  /// The error thrown when the pool is used after it was closed, if there is a specific one.
  private var reasonOfClosing: PersistenceError?
  /// The state shared by all pools of the file; set before the pool is shared.
  private(set) var shared = SharedFile()
  /// Called with the reader of a held state when its pool is closed; nil for other pools.
  private let release: ((Reader) -> Void)?
  /// See ``ReadMoment/maximumAge``.
  let maximumAge = ReadMoment.maximumAge
  let turn = WritingTurn()
  /// Nil for a read-only store, and while no connection is needed for writing.
  var writer: SQLiteConnection?
  /// Whether the writer has only opened the store, and may become the first reader.
  var canLendWriter = false
  /// Whether the file has the settings of the options, which a later writer then sets for itself.
  var isFileSetUp = false
  /// The writer's data version after its last commit, or when it first read the store.
  var writtenVersion: UInt32?
  /// Runs before each commit to a store in memory; nil for none. Set before the pool is shared.
  var commitHook: CommitHook?
  /// Detects changes to the store by other programs; nil until the store is identified, and for an in-memory store.
  private(set) var watch: StoreWatch?

  /// A reading connection, with the state of the files when it was opened.
  struct Reader {
    let connection: SQLiteConnection
    let files: StoreFilesState?
  }

  /// Opens the store: the writer, or the first reader.
  ///
  /// - Parameters:
  ///   - url: The store's file; nil for an in-memory store.
  ///   - creates: Whether to create the file if it doesn't exist.
  init(_ url: URL?, options: StoreOptions, creates: Bool = false) throws {
    try options.requireNoServerOptions(at: url)
    self.url = url
    // Other threads open connections, too.
    let options = url == nil ? options : options.with(options.encryption)
    self.options = options
    instrument = options.instrument
    readerLimit = Self.maximumReaders
    release = nil
    isReadOnly = options.isReadOnly && url != nil
    if isReadOnly {
      writer = nil
      idle = [try Self.openReader(url, options)]
      readerCount = 1
    } else {
      writer = try SQLiteConnection(
        url, mode: url == nil ? .memory : creates ? .create : .readWrite, options: options)
      canLendWriter = url != nil
    }
  }

  /// Reads in one transaction: everything that `body` reads is from the same state.
  @discardableResult
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  func read<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    try following { try $0.withReader { connection in try connection.readTransaction { try body(connection) } } }
  }

  /// Reads with a single statement, which is a transaction by itself.
  @discardableResult
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  func readOnce<T>(_ body: (SQLiteConnection) throws -> T) throws -> T { try following { try $0.withReader(body) } }

  /// Reads with the connection opened with the pool, before the pool is shared: another connection would have to parse
  /// the schema again.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  func readBeforeOthers<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    if isReadOnly { return try readOnce(body) }
    return try withWriter { connection in
      let result = try body(connection)
      writtenVersion = connection.dataVersion
      return result
    }
  }

  /// Starts checking the store whenever others may have changed it.
  func setWatch(_ watch: StoreWatch) {
    self.watch = watch
    if let url, let file = OpenStoreFiles.add(url, of: self) { shared = file }
  }

  /// Reports an error caused by another program's migration of the store as such.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  func explaining<T>(_ connection: SQLiteConnection, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as PersistenceError {
      if [.sqlite, .storeOpenFailed, .constraintConflict].contains(error.code) { try watch?.check(connection) }
      throw error
    }
  }

  /// Reads with the only connection of an in-memory store, waiting without a limit.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  private func withSharedWriter<T>(_ writer: SQLiteConnection, _ body: (SQLiteConnection) throws -> T) throws -> T {
    // Called within a commit hook, the work is part of that transaction.
    if commitHook?.isRunningHere == true { return try body(writer) }
    if WriteReservation.isHeld(of: self) { return try observed(writer, body) }
    _ = turn.begin { nil }
    defer { turn.end() }
    try requireOpen()
    return try observed(writer, body)
  }

  /// Runs `body` while no other thread writes through this pool, and then closes it, so that no write can intervene.
  ///
  /// If `body` throws, the pool remains open.
  ///
  /// - Parameter successor: The pool that others use in place of this one from then on, if the store continues in
  ///   another file; nil if they fail.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  func closing<T>(continuingIn successor: SQLiteConnectionPool? = nil, _ body: () throws -> T) throws -> T {
    try beginTurn(options.busyTimeout)
    do {
      try requireOpen()
      let result = try body()
      condition.lock()
      (isClosed, self.successor) = (true, successor)
      condition.unlock()
      turn.end()
      close(becauseOf: successor)
      return result
    } catch {
      turn.end()
      throw error
    }
  }

  /// Lets every further use fail with an error: the reason, or that the pool was closed.
  func refuseUse(because reason: PersistenceError? = nil) {
    condition.lock()
    if !isClosed { (isClosed, reasonOfClosing) = (true, reason) }
    condition.broadcast()
    condition.unlock()
  }

  /// Closes every connection, after waiting for those in use. The store can't be used afterward.
  func close() { close(becauseOf: nil) }

  private func close(becauseOf successor: SQLiteConnectionPool?) {
    condition.lock()
    isClosed = true
    condition.broadcast()
    while idle.count < readerCount { condition.wait() }
    let readers = idle
    if watch?.mustKeepLog == true {
      for connection in readers.map(\.connection) + [writer].compactMap({ $0 }) { connection.keepLogOnClose() }
    }
    idle = []
    readerCount = 0
    condition.unlock()
    // Connections with write access are closed last: only they delete the log.
    for reader in readers where !reader.connection.mode.isWriting { release?(reader) ?? reader.connection.close() }
    heldStates.release(of: self, because: successor.map { lostState(to: $0) })
    for reader in readers where reader.connection.mode.isWriting { release?(reader) ?? reader.connection.close() }
    _ = turn.begin { nil }
    writer?.close()
    turn.end()
    OpenStoreFiles.remove(self)
  }

  deinit { close() }

  /// The total counts of all connections, except readers in use.
  var counts: SQLiteConnection.Counts {
    condition.lock()
    var sum = idle.reduce(into: SQLiteConnection.Counts()) { $0.add($1.connection.counts) }
    condition.unlock()
    _ = turn.begin { nil }
    if let writer { sum.add(writer.counts) }
    turn.end()
    return sum
  }

  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  private func withReader<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    if url == nil, let writer { return try withSharedWriter(writer, body) }
    let reader = try acquireReader()
    defer { giveBack(reader) }
    let connection = reader.connection
    if release == nil { try watch?.requireSameFiles(connection, isThorough: false) }
    let result = try explaining(connection) { try connection.waiting { try observed(connection, body) } }
    let version = connection.dataVersion
    if connection.readVersion != version {
      connection.readVersion = version
      shared.recordChange()
    }
    if connection.hasReloadedSchema, let watch {
      try watch.check(connection)
      connection.hasReloadedSchema = false
    }
    if let files = reader.files, files != StoreFilesState(of: url) {
      throw SQLiteConnection.changedWhileRead(url)
    }
    return result
  }

  private func acquireReader() throws -> Reader {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if isClosed { throw closedError }
      if let reader = idle.popLast() {
        if reader.files == StoreFilesState(ifNeeded: reader.files, of: url) { return reader }
        // Others have changed files that were read without locks: examine them again.
        reader.connection.close()
        readerCount -= 1
      } else if readerCount == 0, let reader = lendWriter() {
        readerCount += 1
        return reader
      } else if readerCount < readerLimit {
        readerCount += 1
        do { return try openAnotherReader() } catch {
          readerCount -= 1
          condition.broadcast()
          throw error
        }
      } else {
        let begun = ContinuousClock.now
        ThreadPool.whileWaiting { condition.wait() }
        instrument?.waited(for: .connection, .now - begun)
      }
    }
  }

  /// Opens a reader besides the pool's other connections. `condition` is locked before and afterward, but not
  /// meanwhile, for the readers of other threads.
  private func openAnotherReader() throws -> Reader {
    condition.unlock()
    defer { condition.lock() }
    let begun = instrument == nil ? nil : ContinuousClock.now
    let reader = try Self.openReader(url, options)
    if let begun { instrument?.waited(for: .opening, .now - begun) }
    // Makes the reader check whether it has opened another file than the older connections.
    reader.connection.hasReloadedSchema = true
    return reader
  }

  /// The state of the connections and caches.
  var statistics: StoreStatistics {
    var statistics = StoreStatistics()
    condition.lock()
    (statistics.connections, statistics.idleConnections) = (readerCount, idle.count)
    for reader in idle { reader.connection.addCacheUse(to: &statistics) }
    condition.unlock()
    (statistics.maximumConnections, statistics.waitingWriters) = (readerLimit, turn.waitingCount)
    if turn.tryBegin() {
      writer?.addCacheUse(to: &statistics)
      turn.end()
    }
    if let url { statistics.logSize = FileState(path: url.path + "-wal").map { Int($0.size) } }
    return statistics
  }

  @inline(never)
  private func giveBack(_ reader: Reader) {
    condition.lock()
    idle.append(reader)
    // Wakes threads that wait for a reader as well as one that closes.
    condition.broadcast()
    condition.unlock()
  }

  /// - Throws: ``Continued`` if the store continues in another file.
  func requireOpen() throws {
    if !isOpen { throw closedError }
  }

  var isOpen: Bool {
    condition.lock()
    defer { condition.unlock() }
    return !isClosed
  }

  private var closedError: any Error {
    if let successor { return Continued(pool: successor) }
    return reasonOfClosing ?? PersistenceError(
      .storeOpenFailed, at: .store(url), "The store was closed.", fix: "Add it to a coordinator again.")
  }

  // MARK: Holding a state

  /// Creates the pool of a held state, with a single connection that is in a read transaction.
  ///
  /// - Parameter release: Called with the connection when the pool is closed.
  init(holding reader: Reader, of origin: SQLiteConnectionPool, release: @escaping (Reader) -> Void) {
    (url, options, isReadOnly, writer) = (origin.url, origin.options, true, nil)
    instrument = origin.instrument
    idle = [reader]
    (readerCount, readerLimit) = (1, 1)
    self.release = release
  }

  /// Removes a reader from the pool, or opens one, for use outside the pool.
  func takeOut() throws -> Reader {
    condition.lock()
    defer { condition.unlock() }
    if isClosed { throw closedError }
    guard let reader = idle.popLast() else { return try openAnotherReader() }
    readerCount -= 1
    return reader
  }

  /// Returns a reader to the pool; closes it if it isn't needed.
  func takeBack(_ reader: Reader) {
    condition.lock()
    let isNeeded = !isClosed && readerCount < readerLimit && !reader.connection.isInTransaction
    if isNeeded {
      readerCount += 1
      idle.append(reader)
      condition.broadcast()
    }
    condition.unlock()
    if !isNeeded { reader.connection.close() }
  }

  private static func openReader(_ url: URL?, _ options: StoreOptions) throws -> Reader {
    guard options.isReadOnly, let url else {
      return Reader(connection: try SQLiteConnection(url, mode: .readOnlyBesideWriter, options: options), files: nil)
    }
    let files = StoreFilesState(of: url)
    let access = try ReadOnlyAccess(choosingFor: url, options.encryption)
    let connection = try SQLiteConnection(url, mode: .readOnly, options: options, access: access)
    return Reader(connection: connection, files: access.isWithoutLocks ? files : nil)
  }
}

extension SQLiteConnection.Counts {
  mutating func add(_ other: Self) { (prepared, executed) = (prepared + other.prepared, executed + other.executed) }
}
