import LinkedSQLite
package import Foundation

/// One connection to an SQLite database.
///
/// Not Sendable: it is opened without SQLite's own mutexes, so that only one thread may use it at a time. Sharing
/// requires a lock, as in ``SQLiteConnectionPool``.
///
/// ```swift
/// let connection = try SQLiteConnection(url, mode: .readOnly)
/// let count = try connection.first(.objectCount) { $0.integer(0) }
/// ```
package final class SQLiteConnection {
  /// The access mode of a connection.
  package enum Mode: Sendable, Equatable {
    /// Reads and writes an existing file.
    case readWrite
    /// Reads and writes, and creates the file if it doesn't exist.
    case create
    /// Neither changes the file nor creates files beside it; see ``ReadOnlyAccess``.
    case readOnly
    /// Reads a file that another connection of this process writes, with ordinary locks.
    case readOnlyBesideWriter
    /// Reads a file like ``readOnly``, and writes to others attached to the connection.
    case readOnlyWritingAttached
    /// Reads and writes a database whose settings belong to the application, and creates an empty one if it doesn't
    /// exist.
    case application
    /// Reads and writes an existing file without any functions and settings of Persist, as another program does.
    case unassisted
    /// A private in-memory database.
    case memory

    var isWriting: Bool { [.readWrite, .create, .application, .unassisted, .memory].contains(self) }
  }

  /// The counts of work done, for tests.
  struct Counts: Sendable, Equatable {
    /// The number of statements that SQLite compiled.
    var prepared = 0
    /// The number of statement runs.
    var executed = 0
  }

  package let handle: OpaquePointer
  /// Nil for an in-memory database.
  package let url: URL?
  let mode: Mode
  /// Nil for a plain file, and in memory.
  package let encryption: StoreEncryption?
  /// Whether it reads without SQLite's locks, so that changes by others go unnoticed.
  let isWithoutLocks: Bool
  // Unchecked: only changed by this connection's own statements, one at a time.
  @exclusivity(unchecked) var counts = Counts()
  /// Whether SQLite encountered a changed schema; reset by the reader of the flag.
  @exclusivity(unchecked) var hasReloadedSchema = false
  /// The ``dataVersion`` after the last read, of a connection that only reads.
  @exclusivity(unchecked) var readVersion: UInt32?
  /// The ``dataVersion`` for which the settings of the history were last compared with those known to the store.
  @exclusivity(unchecked) var historyVersion: UInt32?
  /// Interrupts the running statement, from any thread.
  let interruption: SQLiteInterruption
  let predicateFunctions = PredicateFunctions()
  /// Whether a transaction has been started that isn't used yet.
  var hasReservedTransaction = false
  /// The waits for locks of other connections and processes.
  var waits: LockWaits
  /// The basis for trusting the schema; nil if it isn't trusted.
  var fullTextTrust: FullTextTrust?
  /// The statements that changed something within transactions; nil if they aren't recorded.
  package var recordedStatements: [SQLText]?
  /// The settings from before the connection was prepared for schema changes; nil if it isn't.
  var flagsBeforeChanges: SchemaChangeFlags?
  /// The state for which a migration on this connection has sealed the store; nil if it hasn't.
  var migratedState: LayoutSeal.State?
  private var log: SQLiteDebugLog?
  private var cache = StatementCache()

  /// Opens a database and sets it up: timeout, pragmas, functions for triggers.
  ///
  /// - Throws: ``PersistenceError/Code/storeOpenFailed``, ``PersistenceError/Code/storeDamaged`` and, for invalid
  ///   pragmas, ``PersistenceError/Code/invalidRequest``.
  package init(_ url: URL?, mode: Mode, options: StoreOptions = StoreOptions(), access: ReadOnlyAccess? = nil) throws {
    precondition((url == nil) == (mode == .memory), "A database in memory has no URL; every other has one.")
    let encryption = mode == .memory ? nil : options.encryption
    var access = access
    if mode == .readOnly || mode == .readOnlyWritingAttached, access == nil, let url {
      access = try ReadOnlyAccess(choosingFor: url, encryption)
    }
    let name = try Self.name(of: url, access: access)
    let flags: Int32 =
      switch mode {
      case .readWrite, .unassisted: SQLITE_OPEN_READWRITE
      // Attached files are only writable if the connection as a whole is; the URI restricts the main file.
      case .create, .application, .memory, .readOnlyWritingAttached: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readOnly, .readOnlyBesideWriter: SQLITE_OPEN_READONLY
      }
    let requiresDatabase = mode == .readWrite || (mode == .application && url.flatMap { FileState($0) }?.size ?? 0 > 0)
    var opened: OpaquePointer?
    let code = sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let opened else {
      let text = opened.map { String(cString: sqlite3_errmsg($0)) } ?? String(cString: sqlite3_errstr(code))
      let extended = opened.map(sqlite3_extended_errcode) ?? code
      sqlite3_close_v2(opened)
      // Explains a missing or unreadable file better than SQLite's code does.
      if requiresDatabase, let url { try ReadOnlyAccess.requireDatabase(at: url, encryption) }
      throw Self.failure(extended, said: text, url: url)
    }
    handle = opened
    self.url = url
    self.mode = mode
    self.encryption = encryption
    isWithoutLocks = access?.isWithoutLocks == true
    interruption = SQLiteInterruption(handle: opened)
    waits = LockWaits(limit: options.busyTimeout)
    // From here on, `deinit` closes the database if an error is thrown.
    if let encryption { try Self.unlock(opened, with: encryption, url: url) }
    if requiresDatabase, let url { try ReadOnlyAccess.requireDatabase(header, of: url, encryption) }
    if mode.isWriting, sqlite3_db_readonly(handle, "main") == 1 {
      throw PersistenceError(
        .storeReadOnly, at: .store(url), "'\(url?.lastPathComponent ?? "")' can't be written.",
        fix: "Check the permissions of the file and of its folder, or open it for reading only.")
    }
    sqlite3_extended_result_codes(handle, 1)
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

  /// Runs `body` without logging its statements.
  func withoutLog<T>(_ body: () throws -> T) rethrows -> T {
    guard let log else { return try body() }
    log.detach()
    defer { log.attach() }
    return try body()
  }

  private(set) var isClosed = false
  /// Whether this connection has written anything, set by SQLite's commit hook.
  private var hasCommitted = false

  /// Finalizes every statement and closes the connection; does nothing if it is already closed.
  package func close() {
    guard !isClosed else { return }
    isClosed = true
    // A new file without tables would count as one that lost its log.
    let isUnused = mode == .create && url != nil && (try? first(.objectCount) { $0.integer(0) }) == 0
    interruption.end()
    cache.finalizeAll()
    log = nil
    // Otherwise closing would move the log's content into the file: a change by a connection that changed nothing.
    if isUnused || (mode.isWriting && !hasCommitted && hasLog) { persist_sqlite3_keep_wal_on_close(handle) }
    sqlite3_close_v2(handle)
  }

  /// Whether there is a non-empty log; an empty one is deleted with the last connection.
  private var hasLog: Bool {
    guard url != nil, let file = sqlite3_db_filename(handle, "main") else { return false }
    return FileState(path: String(cString: file) + "-wal").map { $0.size > 0 } ?? false
  }

  /// At most the first 100 bytes of the file; nil if they can't be read.
  private var header: Data? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file else {
      return nil
    }
    return DatabaseHeader.read(file)
  }

  private static func name(of url: URL?, access: ReadOnlyAccess?) throws -> String {
    guard let url else { return ":memory:" }
    guard url.isFileURL else {
      throw PersistenceError(
        .storeOpenFailed, at: .store(url), "A store is a file; '\(url.absoluteString)' isn't a file's URL.",
        fix: "Create the URL with URL(fileURLWithPath:).")
    }
    return try SQLiteFileName.uri(for: url, parameters: access?.uriParameters ?? [])
  }

  // MARK: Statements

  /// The number of prepared statements that are kept.
  var statementCount: Int { cache.count }

  /// The statement for frequently run SQL, prepared on first use.
  ///
  /// It is ready for binding. There is only one instance, so it can't be run again while its rows are being read.
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

  /// Prepares the SQL, or reuses a cached statement for it, and binds its values.
  ///
  /// The statement is exclusive to the caller while `body` runs.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
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

  /// Runs SQL to completion.
  ///
  /// - Returns: The number of rows that an insert, update or delete changed, excluding triggers.
  @discardableResult
  @inline(never)
  package func execute(_ sql: SQLText) throws -> Int {
    let isRecorded = recordedStatements != nil && isInTransaction
    return try withStatement(sql) { statement in
      let total = totalChanges
      try statement.run()
      if isRecorded, sqlite3_stmt_readonly(statement.handle) == 0 { recordedStatements?.append(sql) }
      return changes(since: total)
    }
  }

  // Literals are the text of a file.
  @_disfavoredOverload @discardableResult
  package func execute(_ sql: SharedSQL) throws -> Int { try execute(SQLText(sql)) }

  /// Calls `body` for each row.
  package func query(_ sql: SQLText, _ body: (SQLiteStatement) throws -> Void) throws {
    try withStatement(sql) { statement in
      while try statement.step() { try body(statement) }
    }
  }

  /// The results of `body` for each row.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  package func all<T>(_ sql: SQLText, _ body: (SQLiteStatement) throws -> T) throws -> [T] {
    var result: [T] = []
    try query(sql) { result.append(try body($0)) }
    return result
  }

  /// The result of `body` for the first row; nil if there are no rows.
  @_semantics("optimize.sil.specialize.generic.never") @inline(never)
  package func first<T>(_ sql: SQLText, _ body: (SQLiteStatement) throws -> T) throws -> T? {
    try withStatement(sql) { statement in
      try statement.step() ? try body(statement) : nil
    }
  }

  /// The number of rows that the last insert, update or delete changed.
  var changes: Int { Int(sqlite3_changes(handle)) }

  /// The number of rows that the last insert, update or delete changed, at least.
  ///
  /// A table whose rows are being converted is a view, and SQLite counts only what its triggers write: each deleted row
  /// once, other rows once or twice.
  ///
  /// - Parameter total: ``totalChanges`` before the statement.
  func changes(since total: Int32) -> Int {
    let count = changes
    return count > 0 ? count : Int(totalChanges &- total)
  }

  /// The number of rows that all statements changed, triggers included.
  var totalChanges: Int32 { sqlite3_total_changes(handle) }

  /// Whether a transaction is open.
  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

  private func prepare(_ text: String) throws -> SQLiteStatement {
    do {
      return try compile(text)
    } catch let error as PersistenceError where error.isAboutUnknownFunction {
      guard try defineMissingFunctions() else { throw error }
      return try compile(text)
    }
  }

  private func compile(_ text: String) throws -> SQLiteStatement {
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
        fix: "Run them one at a time.")
    }
    counts.prepared += 1
    log?.explain(text)
    return statement
  }
}
