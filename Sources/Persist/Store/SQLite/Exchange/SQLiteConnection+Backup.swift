import LinkedSQLite
import Foundation

extension SQLiteConnection {
  /// Copies the whole database, in one consistent state and including the content of its log, to a new file, which is
  /// encrypted like this one.
  func copyDatabase(to url: URL) throws { try copyDatabase(to: url, encryption) }

  /// Copies the whole database, in one consistent state and including the content of its log, to a new file.
  ///
  /// - Parameters:
  ///   - url: The URL of the new file, which must not exist.
  ///   - other: The encryption of the new file.
  ///   - permissions: The initial permissions of the file; nil for the process's default.
  func copyDatabase(to url: URL, _ other: StoreEncryption?, like permissions: StorePermissions? = nil) throws {
    do {
      try StorePermissions.makeFile(url, like: permissions)
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(url), "The copy's file can't be created: \(error.localizedDescription)",
        fix: "Check the permissions of its folder, and the free disk space.")
    }
    // Page sizes are equal only with equal encryption settings.
    guard (encryption == nil) == (other == nil), encryption?.settings == other?.settings else {
      return try export(to: url, other)
    }
    var target: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE
    let opened = url.withUnsafeFileSystemRepresentation { path in
      path.map { sqlite3_open_v2($0, &target, flags, nil) } ?? SQLITE_CANTOPEN
    }
    defer { sqlite3_close_v2(target) }
    guard opened == SQLITE_OK, let target else { throw Self.failure(of: target, opened, url: url) }
    if let other { try Self.unlock(target, with: other, url: url) }
    try copyPages(into: target, url: url)
  }

  /// Copies the whole database row by row, tables, indexes and triggers of others included, into an empty file with
  /// another encryption.
  private func export(to url: URL, _ other: StoreEncryption?) throws {
    guard let own = self.url else {
      // No other connection sees a database in memory.
      try exportAttached(to: url, other)
      try execute(.detachCopy)
      return
    }
    // This connection may be read-only, even for attached databases.
    let source = try SQLiteConnection(own, mode: .readOnlyWritingAttached, options: StoreOptions().with(encryption))
    defer { source.close() }
    try source.exportAttached(to: url, other)
  }

  private func exportAttached(to url: URL, _ other: StoreEncryption?) throws {
    try attachNewCopy(url, other)
    let userVersion = try first(.userVersion) { $0.integer(0) }
    let applicationID = try first(.applicationID) { $0.integer(0) }
    try query(.exportToCopy) { _ in }
    for statement in SQLText.setCopyMark(userVersion: userVersion ?? 0, applicationID: applicationID ?? 0) {
      try execute(statement)
    }
  }

  /// Copies the whole database over that of another connection, in one transaction of the latter.
  ///
  /// - Parameters:
  ///   - check: Called when no other connection can write to the target; if it throws, the target is unchanged.
  ///   - report: Called with the copied fraction; if it throws, the target is unchanged.
  func copyDatabase(
    into target: SQLiteConnection, checking check: () throws -> Void = {},
    reporting report: (Double) throws -> Void = { _ in }
  ) throws {
    if target.url != nil, try pageSize != target.pageSize {
      // The page size can't change while there is a log.
      try target.execute(.journalModeDelete)
    }
    try copyPages(into: target.handle, url: target.url, checking: check, reporting: report)
  }

  /// Moves the values in files that rows name into the rows. The files remain.
  ///
  /// - Returns: The number of values.
  package func moveValuesToRows(from folder: ExternalDataFolder) throws -> Int {
    var count = 0
    for (table, column) in try columnsOfFileNames() {
      let rows = try all(.valuesInFiles(of: table, column: column)) { ($0.integer(0), $0.data(1)) }
      for (key, content) in rows {
        let name = content.largeValueName
        // Bytes that merely look like a file's name are left alone.
        guard UUID(uuidString: name) != nil, let value = try folder.dataIfPresent(named: name) else { continue }
        try execute(.setValue(.blob(Data([1]) + value), of: column, in: table, key: key))
        count += 1
      }
    }
    return count
  }

  /// Checkpoints the log: moves its content into the database unless it is being read, without waiting.
  func emptyLog() {
    sqlite3_busy_timeout(handle, 0)
    _ = try? execute(.emptyLog)
  }

  var pageSize: Int64? { get throws { try first(.currentPageSize) { $0.integer(0) } } }

  private static let pagesPerReport: Int32 = 2048

  /// - SeeAlso: <https://sqlite.org/backup.html>
  private func copyPages(
    into target: OpaquePointer?, url: URL?, checking check: () throws -> Void = {},
    reporting report: (Double) throws -> Void = { _ in }
  ) throws {
    guard let copying = sqlite3_backup_init(target, "main", handle, "main") else {
      throw Self.failure(of: target, sqlite3_errcode(target), url: url)
    }
    // The first page acquires the target's lock.
    var stepped = sqlite3_backup_step(copying, 1)
    if stepped == SQLITE_OK || stepped == SQLITE_DONE {
      do {
        try check()
        while stepped == SQLITE_OK {
          stepped = sqlite3_backup_step(copying, Self.pagesPerReport)
          // The last step commits the copy.
          guard stepped == SQLITE_OK else { break }
          let all = sqlite3_backup_pagecount(copying)
          try report(1 - Double(sqlite3_backup_remaining(copying)) / Double(max(all, 1)))
        }
      } catch {
        sqlite3_backup_finish(copying)
        throw error
      }
    }
    let finished = sqlite3_backup_finish(copying)
    guard stepped == SQLITE_DONE, finished == SQLITE_OK else {
      if encryption != nil, stepped == SQLITE_ERROR { throw EncryptedFile.damagedPage(self.url, said: "in a backup") }
      throw Self.failure(of: target, finished == SQLITE_OK ? stepped : finished, url: url)
    }
  }

  private static func failure(of target: OpaquePointer?, _ code: Int32, url: URL?) -> PersistenceError {
    let words = target.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
    return failure(code, said: words.map { String(cString: $0) } ?? "no words for it", url: url)
  }
}
