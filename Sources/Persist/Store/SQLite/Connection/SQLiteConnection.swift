import CSQLite
import Foundation

/// One connection to an SQLite database.
///
/// Not Sendable: it is opened without SQLite's own mutexes, so that only one thread may use it at a time. Whoever
/// shares one does so under a lock, as ``SQLiteConnectionPool`` does.
///
/// ```swift
/// let connection = try SQLiteConnection(url, mode: .readOnly)
/// let count = try connection.first(.objectCount) { $0.integer(0) }
/// ```
final class SQLiteConnection {
  /// What the connection may do.
  enum Mode: Sendable, Hashable {
    /// Reads and writes a file that exists.
    case readWrite
    /// Reads and writes, and makes the file where there is none.
    case create
    /// Changes no byte of the file and makes no file beside it; see ``ReadOnlyAccess``.
    case readOnly
    /// Reads a file that a connection of this process writes, with the ordinary locks.
    case readOnlyBesideWriter
    /// Reads a file as ``readOnly`` does, and writes others that are attached to the connection.
    case readOnlyWritingAttached
    /// Reads and writes a database whose settings are the application's, and makes an empty one where there is none.
    case application
    /// A database of its own in memory.
    case memory

    var isWriting: Bool { [.readWrite, .create, .application, .memory].contains(self) }
  }

  /// How much was done, for tests.
  struct Counts: Sendable, Hashable {
    /// Statements that SQLite compiled.
    var prepared = 0
    /// Statements that were run, each run counting.
    var executed = 0
  }

  let handle: OpaquePointer
  /// Nil in memory.
  let url: URL?
  let mode: Mode
  /// Whether it reads without SQLite's locks, so that changes by others go unnoticed.
  let isWithoutLocks: Bool
  // Unchecked: changed by this connection's own statements only, one at a time.
  @exclusivity(unchecked) var counts = Counts()
  /// Whether SQLite met another schema than it knew; whoever looks at it takes it back.
  @exclusivity(unchecked) var hasReloadedSchema = false
  /// Stops the statement that runs, from any thread.
  let interruption: SQLiteInterruption
  let predicateFunctions = PredicateFunctions()
  /// Whether a transaction has begun that nobody has used yet.
  var hasReservedTransaction = false
  /// The waits for locks of other connections and processes.
  var waits: LockWaits
  /// Why the schema is trusted; nil where it isn't.
  var fullTextTrust: FullTextTrust?
  private var log: SQLiteDebugLog?
  private var cache = StatementCache()

  /// Opens a database and sets it up: time-out, pragmas, what triggers need.
  ///
  /// - Throws: ``PersistenceError/Code/storeOpenFailed``, ``PersistenceError/Code/storeDamaged`` and, for pragmas that
  ///   aren't right, ``PersistenceError/Code/invalidRequest``.
  init(_ url: URL?, mode: Mode, options: StoreOptions = StoreOptions(), access: ReadOnlyAccess? = nil) throws {
    precondition((url == nil) == (mode == .memory), "A database in memory has no URL; every other has one.")
    var access = access
    if mode == .readOnly || mode == .readOnlyWritingAttached, access == nil, let url {
      access = try ReadOnlyAccess(choosingFor: url)
    }
    let name = try Self.name(of: url, access: access)
    let flags: Int32 =
      switch mode {
      case .readWrite: SQLITE_OPEN_READWRITE
      // What is attached may be written only where the connection as a whole may; the URI takes it back for the file.
      case .create, .application, .memory, .readOnlyWritingAttached: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readOnly, .readOnlyBesideWriter: SQLITE_OPEN_READONLY
      }
    if let url, mode == .readWrite || (mode == .application && FileState(url).map { $0.size > 0 } == true) {
      try ReadOnlyAccess.requireDatabase(at: url)
    }
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let opened else {
      let text = opened.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
      let extended = opened.map(sqlite3_extended_errcode) ?? code
      sqlite3_close_v2(opened)
      throw Self.failure(extended, said: text, url: url)
    }
    handle = opened
    self.url = url
    self.mode = mode
    isWithoutLocks = access?.isWithoutLocks == true
    interruption = SQLiteInterruption(handle: opened)
    if mode.isWriting, sqlite3_db_readonly(handle, "main") == 1 {
      throw PersistenceError(
        .storeReadOnly, at: .store(url), "'\(url?.lastPathComponent ?? "")' can't be written.",
        fix: "Check the permissions of the file and of its folder, or open it for reading only.")
    }
    sqlite3_extended_result_codes(handle, 1)
    waits = LockWaits(limit: options.busyTimeout)
    waitForLocks()
    log = SQLiteDebugLog(attachedTo: handle, name: url?.lastPathComponent ?? "memory")
    sqlite3_commit_hook(
      handle,
      { context in
        guard let context else { return 0 }
        Unmanaged<SQLiteConnection>.fromOpaque(context).takeUnretainedValue().hasCommitted = true
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
    try setUp(options, access: access)
  }

  deinit { close() }

  private var isClosed = false
  /// Whether this connection has written anything; SQLite's commit hook says so.
  private var hasCommitted = false

  /// Finalizes every statement and closes; nothing happens the second time.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    interruption.end()
    cache.finalizeAll()
    log = nil
    // Else closing would move what a log holds into the file: a change by somebody who changed nothing.
    if mode.isWriting, !hasCommitted, hasLog { persist_sqlite3_keep_wal_on_close(handle) }
    sqlite3_close_v2(handle)
  }

  /// Whether there is a log with something in it; an empty one goes when the last connection does.
  private var hasLog: Bool {
    guard let url, let log = FileState(SQLiteFileName.companion(of: url, "-wal")) else { return false }
    return log.size > 0
  }

  private static func name(of url: URL?, access: ReadOnlyAccess?) throws -> String {
    guard let url else { return ":memory:" }
    guard url.isFileURL else {
      throw PersistenceError(
        .storeOpenFailed, at: .store(url), "A store is a file; '\(url.absoluteString)' isn't a file's URL.",
        fix: "Make the URL with URL(fileURLWithPath:).")
    }
    return try SQLiteFileName.uri(for: url, parameters: access?.uriParameters ?? [])
  }

  // MARK: Statements

  /// The statement for SQL that runs often, prepared when it is asked for first.
  ///
  /// It is ready to bind, and there is only one: whoever steps through its rows asks for no second run meanwhile.
  func statement(_ sql: PreparedSQL) throws -> SQLiteStatement {
    if let statement = cache.statement(sql) {
      statement.begin()
      return statement
    }
    let statement = try prepare(sql.text)
    cache.keep(statement, for: sql)
    statement.begin()
    return statement
  }

  /// Prepares the SQL, or takes what was prepared for it before, and binds its values.
  ///
  /// The statement is the caller's while `body` runs.
  func withStatement<T>(_ sql: SQLText, _ body: (SQLiteStatement) throws -> T) throws -> T {
    let statement: SQLiteStatement
    if let cached = cache.take(sql.text) { statement = cached } else { statement = try prepare(sql.text) }
    statement.begin()
    defer {
      statement.reset()
      cache.putBack(statement, for: sql.text)
    }
    var index: Int32 = 1
    for value in sql.values {
      statement.bind(value, at: index)
      index += 1
    }
    return try body(statement)
  }

  /// Runs SQL to its end.
  ///
  /// - Returns: how many rows an insert, update or delete changed, triggers not counted.
  @discardableResult
  func execute(_ sql: SQLText) throws -> Int {
    try withStatement(sql) { statement in
      try statement.run()
      return changes
    }
  }

  /// Calls `body` for each row.
  func query(_ sql: SQLText, _ body: (SQLiteStatement) throws -> Void) throws {
    try withStatement(sql) { statement in
      while try statement.step() { try body(statement) }
    }
  }

  /// What `body` makes of each row.
  func all<T>(_ sql: SQLText, _ body: (SQLiteStatement) throws -> T) throws -> [T] {
    var result: [T] = []
    try query(sql) { result.append(try body($0)) }
    return result
  }

  /// What `body` makes of the first row; nil where there is none.
  func first<T>(_ sql: SQLText, _ body: (SQLiteStatement) throws -> T) throws -> T? {
    try withStatement(sql) { statement in
      try statement.step() ? try body(statement) : nil
    }
  }

  /// Rows that the last insert, update or delete changed.
  var changes: Int { Int(sqlite3_changes(handle)) }

  /// Whether a transaction is open.
  var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  private func prepare(_ text: String) throws -> SQLiteStatement {
    var text = text
    var prepared: OpaquePointer?
    var rest = 0
    let code = text.withUTF8 { bytes -> Int32 in
      bytes.withMemoryRebound(to: CChar.self) { characters in
        var tail: UnsafePointer<CChar>?
        func prepareOnce() -> Int32 {
          sqlite3_prepare_v3(
            handle, characters.baseAddress, Int32(clamping: characters.count), UInt32(SQLITE_PREPARE_PERSISTENT),
            &prepared, &tail)
        }
        let code = waitingForIndex(prepareOnce(), prepareOnce)
        if let tail, let start = characters.baseAddress { rest = characters.count - (tail - start) }
        return code
      }
    }
    guard code == SQLITE_OK else { throw failure(code, sql: text) }
    guard let prepared else {
      throw PersistenceError(
        .sqlite, at: PersistenceError.Place(store: url, sql: text), "There is no statement in the text.")
    }
    let statement = SQLiteStatement(handle: prepared, connection: self)
    guard rest == 0 else {
      statement.finalize()
      throw PersistenceError(
        .sqlite, at: PersistenceError.Place(store: url, sql: text), "There is more than one statement in the text.",
        fix: "Run them one after the other.")
    }
    counts.prepared += 1
    log?.explain(text)
    return statement
  }
}
