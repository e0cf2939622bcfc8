import Foundation

/// The connections of one store: one that writes, and readers that are opened as they are needed.
///
/// In WAL mode readers and the writer don't wait for each other, and a reader sees one state of the store for as long
/// as its transaction lasts. A store in memory has one connection for both.
///
/// `@unchecked Sendable`: the lists of readers and the closed flag are touched only while `condition` is locked; a
/// reader is out of the list while a thread uses it, so that no other can; the writer is used only while `writing` is
/// locked. Neither lock may be taken twice by one thread: no body calls back into the pool.
final class SQLiteConnectionPool: @unchecked Sendable {
  /// How many readers there are at most; more threads wait for one of them.
  static let maximumReaders = 8

  let url: URL?
  let isReadOnly: Bool
  let options: StoreOptions
  private let condition = NSCondition()
  private var idle: [Reader] = []
  private var readerCount = 0
  private var isClosed = false
  private let writing = NSLock()
  /// Nil where the store is only read.
  private let writer: SQLiteConnection?

  /// A connection that reads, and what the files were like when it was opened.
  private struct Reader {
    let connection: SQLiteConnection
    let files: FilesState?
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
    try isReadOnly ? readOnce(body) : withWriter(body)
  }

  /// Writes in one transaction, or not at all where `body` throws.
  @discardableResult
  func write<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    try withWriter { connection in try connection.transaction { try body(connection) } }
  }

  /// The writer without a transaction, for what can't run in one.
  @discardableResult
  func withWriter<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    guard let writer else {
      throw PersistError(
        .storeReadOnly, at: .store(url), "The store was opened for reading only.",
        fix: "Open it without isReadOnly to write.")
    }
    writing.lock()
    defer { writing.unlock() }
    try requireOpen()
    return try body(writer)
  }

  /// Runs `body` while nobody else writes through this pool, and then closes it, so that no write comes between.
  ///
  /// Where `body` throws, the pool stays open.
  func closing<T>(_ body: () throws -> T) throws -> T {
    writing.lock()
    do {
      try requireOpen()
      let result = try body()
      condition.lock()
      isClosed = true
      condition.unlock()
      writing.unlock()
      close()
      return result
    } catch {
      writing.unlock()
      throw error
    }
  }

  /// Reads while no program writes to the store, as long as `body` lasts.
  ///
  /// - Parameter hasWriteLock: whether the caller runs within ``closing(_:)``, which holds this pool's own writers off.
  func readWhileNobodyWrites<T>(hasWriteLock: Bool = false, _ body: (SQLiteConnection) throws -> T) throws -> T {
    guard let writer else { return try readOnce(body) }
    if !hasWriteLock { writing.lock() }
    defer { if !hasWriteLock { writing.unlock() } }
    try requireOpen()
    if url == nil { return try body(writer) }
    return try writer.transaction { try readOnce(body) }
  }

  /// The writer without a transaction, where nobody uses it just now; nil where somebody does.
  func withIdleWriter<T>(_ body: (SQLiteConnection) throws -> T) throws -> T? {
    guard let writer, writing.try() else { return nil }
    defer { writing.unlock() }
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
    writing.lock()
    writer?.close()
    writing.unlock()
  }

  // The writer goes last: only a connection that may write takes the log away with it.
  deinit { close() }

  /// How much all connections have done together, those in use left out.
  var counts: SQLiteConnection.Counts {
    condition.lock()
    var sum = idle.reduce(into: SQLiteConnection.Counts()) { $0.add($1.connection.counts) }
    condition.unlock()
    writing.lock()
    if let writer { sum.add(writer.counts) }
    writing.unlock()
    return sum
  }

  private func withReader<T>(_ body: (SQLiteConnection) throws -> T) throws -> T {
    if url == nil { return try withWriter(body) }
    let reader = try takeReader()
    defer { giveBack(reader) }
    let result = try body(reader.connection)
    if let files = reader.files, files != FilesState(of: url) {
      throw PersistError(
        .storeBusy, at: .store(url), "Another program changed the store while it was read without locks.",
        fix: "Read again.")
    }
    return result
  }

  private func takeReader() throws -> Reader {
    condition.lock()
    defer { condition.unlock() }
    while true {
      if isClosed { throw closedError }
      if let reader = idle.popLast() {
        if reader.files == FilesState(ifNeeded: reader.files, of: url) { return reader }
        // Others have changed what was read without locks: look at the files anew.
        reader.connection.close()
        readerCount -= 1
      } else if readerCount < Self.maximumReaders {
        let reader = try Self.openReader(url, options)
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

  private var closedError: PersistError {
    PersistError(
      .storeOpenFailed, at: .store(url), "The store was closed.", fix: "Add it to a coordinator again.")
  }

  private static func openReader(_ url: URL?, _ options: StoreOptions) throws -> Reader {
    guard options.isReadOnly, let url else {
      return Reader(connection: try SQLiteConnection(url, mode: .readOnlyBesideWriter, options: options), files: nil)
    }
    let files = FilesState(of: url)
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

/// What a store's files are like from outside, to notice a change by others where SQLite's locks don't.
private struct FilesState: Hashable {
  private let database: FileState?
  private let wal: FileState?
  private let hasIndex: Bool

  init(of url: URL?) {
    database = url.flatMap(FileState.init)
    wal = url.flatMap { FileState(SQLiteFileName.companion(of: $0, "-wal")) }
    hasIndex = url.map { FileState(SQLiteFileName.companion(of: $0, "-shm")) != nil } ?? false
  }

  /// Nil where there was none before: locks do the work.
  init?(ifNeeded before: FilesState?, of url: URL?) {
    guard before != nil else { return nil }
    self.init(of: url)
  }
}
