import CSQLite

extension SQLiteConnection {
  /// What every connection gets before its first use.
  func setUp(_ options: StoreOptions, access: ReadOnlyAccess?) throws {
    if access?.isWithoutLocks == true {
      // Else SQLite would look for shared memory, which files without locks don't have.
      try execute(.lockingModeExclusive)
    }
    if mode == .readOnly || mode == .readOnlyWritingAttached { persist_sqlite3_keep_wal_on_close(handle) }
    // Functions that a damaged or hostile schema calls can do no harm, and cells are checked when a page is read.
    try execute(.trustedSchemaOff)
    try execute(.cellSizeCheckOn)
    // Triggers of derived attributes rely on it, as Core Data sets it; those of other databases may rely on the
    // contrary.
    if try mode != .application || first(.knows(table: "Z_METADATA"), { _ in true }) == true {
      try execute(.recursiveTriggersOn)
    }
    let pragmas = try Self.checked(options.pragmas, on: self)
    if mode == .create, try isEmpty() {
      // Has an effect only before the first table is made. The values are those that Core Data's stores have.
      try execute(.pageSize)
      try execute(.autoVacuumIncremental)
      for pragma in pragmas where Self.beforeTables.contains(pragma.name) { try execute(.set(pragma)) }
      try setFileUp(pragmas)
    } else if mode.isWriting, mode != .application {
      try setSynchronous(unlessIn: pragmas)
    }
    for pragma in pragmas where !pragma.isOfTheFile { try execute(.set(pragma)) }
    defineDerivedFunctions()
    try defineMissingFunctions()
    definePredicateFunctions()
    defineCollations()
  }

  /// Brings a file that exists to the journal mode and the settings that the options ask for, or to WAL mode.
  ///
  /// This writes, and so comes only when the file is known to be what it should: opening alone changes no byte.
  func setFileUp(_ options: StoreOptions) throws {
    try setFileUp(Self.checked(options.pragmas, on: self))
  }

  private func setFileUp(_ pragmas: [Pragma]) throws {
    let journal = pragmas.first { $0.name == "journal_mode" }
    try execute(journal.map { .set($0) } ?? .journalModeWAL)
    try setSynchronous(unlessIn: pragmas)
    for pragma in pragmas where pragma.isOfTheFile && pragma.name != "journal_mode" {
      if !Self.beforeTables.contains(pragma.name) { try execute(.set(pragma)) }
    }
  }

  /// A crash of the program loses nothing either way. When power fails, the file stays whole in WAL mode; with a
  /// rollback journal that takes the slower setting.
  private func setSynchronous(unlessIn pragmas: [Pragma]) throws {
    guard !pragmas.contains(where: { $0.name == "synchronous" }) else { return }
    let isWAL = try first(.journalMode) { $0.text(0) } == "wal"
    try execute(isWAL ? .synchronousNormal : .synchronousFull)
  }

  /// Pragmas that count only while a file is empty and not yet in WAL mode.
  private static let beforeTables: Set<String> = ["page_size", "auto_vacuum", "encoding"]

  private func isEmpty() throws -> Bool {
    try first(.objectCount) { $0.integer(0) } == 0
  }

  /// The options' pragmas in name order, so that every connection sets them in the same one.
  private static func checked(_ pragmas: [String: String], on connection: SQLiteConnection) throws -> [Pragma] {
    try pragmas.sorted { $0.key < $1.key }.map { name, value in
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
