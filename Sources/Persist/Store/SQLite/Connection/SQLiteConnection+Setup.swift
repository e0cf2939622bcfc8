import LinkedSQLite

extension SQLiteConnection {
  /// Sets up a connection before its first use.
  func setUp(_ options: StoreOptions, access: ReadOnlyAccess?) throws {
    if mode != .unassisted, access?.isWithoutLocks == true {
      // Otherwise SQLite would look for shared memory, which files without locks don't have.
      try execute(.lockingModeExclusive)
    }
    if encryption != nil { try requireRightKey() }
    guard mode != .unassisted else { return }
    if mode == .readOnly || mode == .readOnlyWritingAttached { persist_sqlite3_keep_wal_on_close(handle) }
    // Functions called by a damaged or hostile schema can do no harm, and cells are checked when a page is read.
    _ = persist_sqlite3_set_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    try execute(.cellSizeCheckOn)
    // Triggers of derived attributes rely on this, and Core Data sets it too; those of other databases may rely on the
    // opposite.
    if try mode != .application || first(.knows(table: "Z_METADATA"), { _ in true }) == true {
      try execute(.recursiveTriggersOn)
    }
    let pragmas = try Self.checked(options.pragmas, on: self)
    if mode == .create, try isEmpty() {
      // Only effective before the first table is created. The values are those of Core Data's stores.
      if encryption == nil { try execute(.pageSize) }
      for pragma in pragmas where Self.beforeFirstPage.contains(pragma.name) { try execute(.set(pragma)) }
      // This writes the first page, after which the page size remains as it is.
      let autoVacuum = pragmas.first { $0.name == Self.autoVacuum }
      let statement: SQLText = autoVacuum.map { .set($0) } ?? .autoVacuumIncremental
      try execute(statement)
      try setFileUp(pragmas)
    } else if mode.isWriting, mode != .application, !pragmas.contains(where: { $0.name == "synchronous" }) {
      // The safer setting, until the file's journal mode is known.
      try execute(.synchronousFull)
    }
    for pragma in pragmas where !pragma.isOfTheFile { try execute(.set(pragma)) }
    defineDerivedFunctions()
    // The application's SQL may change the schema.
    if mode == .application { try defineMissingFunctions() }
    definePredicateFunctions()
    defineCollations()
  }

  /// Switches an existing file to the journal mode and settings in the options, or to WAL mode.
  ///
  /// This writes, and so is only called when the file has been verified: opening alone changes nothing.
  func setFileUp(_ options: StoreOptions) throws {
    try setFileUp(Self.checked(options.pragmas, on: self))
  }

  private func setFileUp(_ pragmas: [Pragma]) throws {
    let journal = pragmas.first { $0.name == "journal_mode" }
    let mode = try waitingForWriters {
      try all(journal.map { .set($0) } ?? .journalModeWAL) { $0.text(0) }.first
    }
    try setSynchronous(pragmas, journalMode: mode)
    if mode == "wal", !pragmas.contains(where: { $0.name == "journal_size_limit" }) { try execute(.journalSizeLimit) }
    for pragma in pragmas where pragma.isOfTheFile && pragma.name != "journal_mode" {
      if !Self.beforeFirstPage.contains(pragma.name), pragma.name != Self.autoVacuum { try execute(.set(pragma)) }
    }
  }

  /// Makes the commits of a connection whose file hasn't been set up as durable as those of the store, once it is.
  func setSynchronous(_ options: StoreOptions) throws {
    try setSynchronous(Self.checked(options.pragmas, on: self), journalMode: first(.journalMode) { $0.text(0) })
  }

  /// A crash of the program loses nothing with either setting. After a power failure, the file remains intact in WAL
  /// mode; with a rollback journal this requires the slower setting.
  private func setSynchronous(_ pragmas: [Pragma], journalMode: String?) throws {
    if let pragma = pragmas.first(where: { $0.name == "synchronous" }) {
      try execute(.set(pragma))
    } else {
      try execute(journalMode == "wal" ? .synchronousNormal : .synchronousFull)
    }
  }

  /// Pragmas that only take effect while a file is empty and not yet in WAL mode.
  private static let beforeFirstPage: Set<String> = ["page_size", "encoding"]
  private static let autoVacuum = "auto_vacuum"

  private func isEmpty() throws -> Bool {
    try first(.objectCount) { $0.integer(0) } == 0
  }

  /// The pragmas of the options by name, so that every connection sets them in the same order.
  private static func checked(_ pragmas: [String: String], on connection: SQLiteConnection) throws -> [Pragma] {
    let isInMemory = connection.mode == .memory
    return try pragmas.sorted(on: \.key).compactMap { name, value in
      let known = name.lowercased()
      // A store in memory is plain, and has no use for what the encryption of its file needs.
      let isEncrypted = connection.encryption != nil || isInMemory && CipherSetting.names.contains(known)
      guard try CipherSetting.isOrdinary(known, value, isEncrypted: isEncrypted) || isInMemory && known == "page_size"
      else { return nil }
      let pragma = try Pragma(name, value)
      guard try connection.first(.knows(pragma: pragma.name), { _ in true }) != nil else {
        throw PersistenceError(
          .invalidRequest, at: .store(connection.url), "SQLite has no pragma '\(name)'.",
          fix: "The pragmas are listed at https://sqlite.org/pragma.html.")
      }
      return pragma
    }
  }
}

/// The settings that a connection has while it changes a schema.
package struct SchemaChangeFlags {
  private let triggers: Int32
  private let foreignKeys: Int32
  private let legacyAlterTable: Int32

  /// Disables triggers, foreign keys and the former form of `ALTER TABLE`, and records the former settings.
  ///
  /// - SeeAlso: <https://sqlite.org/c3ref/c_dbconfig_defensive.html>
  package init(setOn handle: OpaquePointer) {
    triggers = persist_sqlite3_set_flag(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)
    foreignKeys = persist_sqlite3_set_flag(handle, SQLITE_DBCONFIG_ENABLE_FKEY, 0)
    legacyAlterTable = persist_sqlite3_set_flag(handle, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, 0)
  }

  func restore(on handle: OpaquePointer) {
    _ = persist_sqlite3_set_flag(handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, triggers)
    _ = persist_sqlite3_set_flag(handle, SQLITE_DBCONFIG_ENABLE_FKEY, foreignKeys)
    _ = persist_sqlite3_set_flag(handle, SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, legacyAlterTable)
  }
}
