package import Foundation

/// Copies of stores that are stores themselves.
package enum StoreBackup {
  /// Copies a store file in one consistent state, including the content of its log and its files of large values.
  ///
  /// The store isn't changed. The copy appears under its name when it is complete.
  ///
  /// - Parameter encryption: The encryption of the copy. An encrypted one contains its large values.
  /// - Throws: ``PersistenceError/Code/fileAccess`` if the file already exists, or can't be written.
  package static func copy(
    storeAt url: URL, to copy: URL, _ encryption: StoreEncryption? = StoreEncryption.current
  ) throws {
    try make(copy, like: StorePermissions(ofStoreAt: url)) { partial, values in
      try whileNobodyWrites(to: url) {
        try SQLiteConnection.reading(url) { connection in
          // The closure runs again if the store changed while it was read.
          try? FileManager.default.removeItem(at: partial)
          try write(connection, to: partial, encryption: encryption, values: values)
        }
      }
      try beginLife(ofStoreAt: partial, encryption)
    }
  }

  /// Copies an open store. Others can read in the meantime, but writes wait, so that no file of a large value that the
  /// copy names is deleted.
  static func copy(_ store: SQLiteStore, to copy: URL) throws {
    try store.pool.readWhileNobodyWrites { try self.copy($0, to: copy, $0.encryption) { try beginLife(in: $0) } }
  }

  /// Creates and opens a copy of a store, with a new identifier.
  ///
  /// The caller blocks the store's own writers.
  ///
  /// - Parameter url: The URL of the new file, which must not exist; nil for an in-memory store.
  static func move(_ store: SQLiteStore, to url: URL?, options: StoreOptions) throws -> SQLiteStore {
    guard let url else { return try copyInMemory(store, options, hasWriteLock: true) }
    let encryption = options.encryption
    try store.pool.readWhileNobodyWrites(hasWriteLock: true) { connection in
      try copy(connection, to: url, encryption) { try assignNewIdentifier(to: $0, of: store, type: "SQLite") }
    }
    return try SQLiteStore.open(url, model: store.model, options: options)
  }

  /// Replaces the store in a file with a copy of another, in one transaction. After a failure, the store has its former
  /// rows and large values only.
  static func replace(storeAt url: URL, withStoreAt other: URL) throws {
    // Only an empty file makes way: folders and devices may have no size, either.
    guard let state = FileState(url), !state.isRegular || state.size > 0 else {
      try? FileManager.default.removeItem(at: url)
      return try copy(storeAt: other, to: url)
    }
    let target = try SQLiteConnection(url, mode: .readWrite)
    defer { target.close() }
    if try !SQLiteStore.canCreate(at: url) { _ = try StoreCatalog(target) }
    let folder = ExternalDataFolder(storeAt: url)
    let old = folder.names()
    let values = LargeValueCopies(to: folder)
    var new: [String] = []
    do {
      try whileNobodyWrites(to: other) {
        let source = try SQLiteConnection(other, mode: .readOnly)
        defer { source.close() }
        _ = try StoreCatalog(source)
        // While the target can't be written, nobody deletes files that its rows don't name yet.
        try source.copyDatabase(into: target) { new = try values.copy(from: source) }
      }
    } catch {
      discard(values, notNamedBy: target)
      throw error
    }
    // Each restored store begins a life of its own, because the same copy may be restored twice.
    try target.transaction { try beginLife(in: target) }
    // Only now does no row name the old files any longer.
    folder.discard(Set(old).subtracting(new))
  }

  // MARK: Steps

  /// Begins the life of a copy, so that neither it nor a store restored from it is taken for the original.
  private static func beginLife(ofStoreAt url: URL, _ encryption: StoreEncryption?) throws {
    let connection = try SQLiteConnection(url, mode: .readWrite, options: StoreOptions().with(encryption))
    defer { connection.close() }
    try connection.transaction { try beginLife(in: connection) }
  }

  private static func beginLife(in connection: SQLiteConnection) throws {
    var metadata = try StoreMetadata(connection)
    metadata.beginLife()
    try metadata.write(to: connection)
  }

  /// Deletes the large values that a failed replacement has added. Only files without a row are deleted, since the
  /// commit may have succeeded all the same, or another process may have completed the same replacement.
  private static func discard(_ values: LargeValueCopies, notNamedBy target: SQLiteConnection) {
    guard !values.added.isEmpty else { return }
    try? target.transaction { values.discardAdded(except: try target.largeValueNames()) }
  }

  /// Runs `body` while no program writes to a store, so that no file of a large value that a row names is deleted.
  ///
  /// A store that can't be locked, or that no program has open, is read without a lock.
  private static func whileNobodyWrites<T>(to url: URL, _ body: () throws -> T) throws -> T {
    guard let access = try? ReadOnlyAccess(choosingFor: url, StoreEncryption.current), !access.isWithoutLocks,
      try !ReadOnlyAccess.hasHotJournal(url), let connection = try? SQLiteConnection(url, mode: .readWrite)
    else { return try body() }
    defer { connection.close() }
    let isHeld = (try? connection.execute(.beginWriting)) != nil
    defer { if isHeld { _ = try? connection.execute(.rollback) } }
    return try body()
  }

  private static func copy(
    _ source: SQLiteConnection, to copy: URL, _ encryption: StoreEncryption?,
    preparing prepare: (SQLiteConnection) throws -> Void
  ) throws {
    try make(copy, like: source.url.flatMap(StorePermissions.init(ofStoreAt:))) { partial, values in
      try write(source, to: partial, encryption: encryption, values: values)
      let connection = try SQLiteConnection(partial, mode: .readWrite, options: StoreOptions().with(encryption))
      defer { connection.close() }
      try connection.transaction { try prepare(connection) }
    }
  }

  /// Creates a copy in a temporary folder, and gives it its name when it is complete. If that fails, neither the copy
  /// nor its large values remain.
  private static dynamic func make(
    _ copy: URL, like permissions: StorePermissions?,
    _ write: (_ partial: URL, _ values: LargeValueCopies) throws -> Void
  ) throws {
    try requireMissing(copy)
    let unfinished = try UnfinishedCopy(of: copy, like: permissions)
    let folder = ExternalDataFolder(storeAt: copy)
    let values = LargeValueCopies(to: folder, drafts: unfinished.file.deletingLastPathComponent())
    do {
      try write(unfinished.file, values)
      try requireMissing(copy)
      // Remains of a former store with this name would be mistaken for the copy's own log.
      removeCompanions(of: copy)
      try unfinished.finish()
    } catch {
      unfinished.discard()
      // Another program may be creating a copy of the same name, or just have completed it.
      if folder.sharers.isEmpty, FileState(copy) == nil { values.discardAdded() }
      throw error as? PersistenceError
        ?? PersistenceError(.fileAccess, at: .file(copy), "The copy can't be created: \(error.localizedDescription)")
    }
  }

  private static func requireMissing(_ copy: URL) throws {
    guard FileManager.default.fileExists(atPath: copy.path) else { return }
    throw PersistenceError(
      .fileAccess, at: .file(copy), "A file of this name already exists.", fix: "Choose another name for the copy.")
  }

  private static func write(
    _ source: SQLiteConnection, to partial: URL, encryption: StoreEncryption?, values: LargeValueCopies
  ) throws {
    try source.copyDatabase(to: partial, encryption, like: source.url.flatMap(StorePermissions.init(ofStoreAt:)))
    guard let encryption, let url = source.url else {
      try values.copy(from: source)
      return
    }
    let folder = ExternalDataFolder(storeAt: url)
    guard !folder.names().isEmpty else { return }
    let connection = try SQLiteConnection(partial, mode: .readWrite, options: StoreOptions().with(encryption))
    defer { connection.close() }
    try connection.transaction { _ = try connection.moveValuesToRows(from: folder) }
  }

  private static func removeCompanions(of url: URL) {
    for companion in SQLiteFileName.companions(of: url) { try? FileManager.default.removeItem(at: companion) }
  }

  /// Copies a store into memory, under a new identifier.
  ///
  /// - Parameter hasWriteLock: Whether the caller keeps others from writing.
  static func copyInMemory(
    _ store: SQLiteStore, _ options: StoreOptions, hasWriteLock: Bool
  ) throws -> SQLiteStore {
    let pool = try SQLiteConnectionPool(nil, options: options)
    do {
      try store.pool.readWhileNobodyWrites(hasWriteLock: hasWriteLock) { source in
        try pool.withWriter { target in
          try source.copyDatabase(into: target)
          try target.transaction {
            try assignNewIdentifier(to: target, of: store, type: "InMemory")
            try recordBackup(store, target)
          }
        }
      }
      return try SQLiteStore.attached(to: pool, model: store.model, options: options)
    } catch {
      pool.close()
      throw error
    }
  }

  /// Moves values from files into their rows: an in-memory store has no files.
  private static func recordBackup(_ store: SQLiteStore, _ connection: SQLiteConnection) throws {
    let columns = Set(store.plans.writes.flatMap { plan in plan.fileColumns.map { [plan.table, $0] } })
    for column in columns {
      let rows = try connection.all(.valuesInFiles(of: column[0], column: column[1])) { ($0.integer(0), $0.data(1)) }
      for (key, content) in rows {
        let name = content.largeValueName
        let value = SQLValue.blob(Data([1]) + (try store.externalData(named: name)))
        try connection.execute(.setValue(value, of: column[1], in: column[0], key: key))
      }
    }
  }

  /// Assigns a new identifier, so that a copy can be open beside its original, and writes the metadata that were set on
  /// the original and that no commit has written.
  private static func assignNewIdentifier(
    to connection: SQLiteConnection, of store: SQLiteStore, type: String
  ) throws {
    _ = try store.writePendingMetadata(to: connection)
    var metadata = try StoreMetadata(connection)
    metadata.identifier = UUID().uuidString
    metadata.values[StoreMetadata.Key.storeType] = .string(type)
    metadata.values[StoreMetadata.Key.storeIdentifier] = nil
    try metadata.write(to: connection)
  }
}

extension SQLiteStore {
  func backUp(to url: URL) throws { try pool.options.encrypting { try StoreBackup.copy(self, to: url) } }

  func move(
    to location: StoreLocation, options: StoreOptions, replace: (any PersistentStore) -> Void
  ) throws -> any PersistentStore {
    try pool.following { pool in
      try pool.closing {
        let options = options.with(options.encryptionOfCopy(of: pool.options.encryption))
        let copy = try StoreBackup.move(self, to: location.url, options: options)
        replace(copy)
        return copy
      }
    }
  }
}
