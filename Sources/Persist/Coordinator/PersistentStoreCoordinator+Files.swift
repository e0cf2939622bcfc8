public import Foundation

extension PersistentStoreCoordinator {
  /// Deletes the store of a file and everything that belongs to it: its log, its index, its journal, its files of
  /// large values. Where it is open in this coordinator it is closed first. Where there is nothing, nothing happens.
  ///
  /// Other programs that have it open notice it before they write next.
  ///
  /// - Throws: ``PersistenceError/Code/storeBusy`` where another coordinator of this program has it open, and would go
  ///   on saving into a file that is gone; ``PersistenceError/Code/notAStore`` where the file is something else, so
  ///   that a wrong path costs nothing; ``PersistenceError/Code/fileAccess`` where a file can't be deleted.
  public func destroyPersistentStore(at url: URL) throws {
    let open = store(at: url)
    guard OpenStoreFiles.count(of: url) <= (open == nil ? 0 : 1) else {
      throw PersistenceError(
        .storeBusy, at: .store(url), "The store is open in another coordinator of this program.",
        fix: "Remove it there first.")
    }
    if let open { try remove(open) }
    try StoreFiles(storeAt: url).delete()
  }

  /// Makes the store of a file a copy of another one: restores it from a backup, say.
  ///
  /// Where there is a store already, its content is exchanged in one transaction: killed at any instant, the file is
  /// the old store or the new one, whole, and other programs that have it open see the new content from then on. The
  /// copy has the identifier of its original, and so have its objects.
  ///
  /// - Parameters:
  ///   - destination: not open in this coordinator; with or without a store.
  ///   - source: a store, open or not, of whichever model. It isn't changed.
  /// - Throws: ``PersistenceError/Code/invalidRequest`` where the destination is open here;
  ///   ``PersistenceError/Code/notAStore``; ``PersistenceError/Code/fileAccess``; ``PersistenceError/Code/storeBusy``
  ///   where another program is writing.
  public func replacePersistentStore(at destination: URL, withPersistentStoreFrom source: URL) throws {
    guard destination.standardizedFileURL != source.standardizedFileURL else {
      throw PersistenceError(
        .invalidRequest, at: .store(destination), "A store can't be replaced by itself.", fix: "Name another source.")
    }
    guard store(at: destination) == nil else {
      throw PersistenceError(
        .invalidRequest, at: .store(destination),
        "The store is open in this coordinator, and would be exchanged under it.",
        fix: "Remove it first, and add it again afterwards.")
    }
    try StoreBackup.replace(storeAt: destination, withStoreAt: source)
  }

  /// Copies an open store, as it is at one moment, into a new file: a backup while the store is in use.
  ///
  /// Others go on reading meanwhile; who saves waits until the copy is there. What the log holds and the files of large
  /// values are part of it. The copy comes up under its name when it is whole, and memory doesn't grow with the store.
  ///
  /// ```swift
  /// try coordinator.backUp(store, to: folder.appendingPathComponent("Backup.sqlite"))
  /// // later, with the store closed
  /// try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: backup)
  /// ```
  ///
  /// - Throws: ``PersistenceError/Code/fileAccess`` where there is a file already, or one can't be written.
  /// - SeeAlso: <https://sqlite.org/backup.html>
  public func backUp(_ store: StoreInfo, to url: URL) throws {
    try StoreBackup.copy(requireSQLite(store), to: url)
  }

  /// Moves a store to another file, or between a file and memory: the new one takes its place in this coordinator.
  ///
  /// The old file stays as it was; ``destroyPersistentStore(at:)`` removes it. Everything goes along: relationships,
  /// files of large values, the application's metadata. Who saves meanwhile waits, and then meets a closed store.
  ///
  /// The new store has an identifier of its own, and so have its objects: rows keep their keys, but identifiers and
  /// URIs of the old store no longer lead anywhere here. Contexts have to be reset, or made anew.
  ///
  /// - Parameters:
  ///   - url: where there is no file yet; nil for a store in memory.
  ///   - options: how the new store is opened.
  /// - Returns: the new store.
  /// - Throws: ``PersistenceError/Code/fileAccess`` where there is a file already, or one can't be written. The
  ///   coordinator then has the old store still.
  @discardableResult
  public func migratePersistentStore(
    _ store: StoreInfo, to url: URL?, options: StoreOptions = StoreOptions()
  ) throws -> StoreInfo {
    var options = options
    options.configuration = options.configuration ?? store.configuration
    try requireConfiguration(options.configuration)
    let old = try requireSQLite(store)
    let new = try old.pool.closing { () throws -> SQLiteStore in
      let new = try StoreBackup.move(old, to: url, options: options)
      exchange(old, for: new)
      return new
    }
    let moved = StoreInfo(new)
    post(Self.storesDidChangeNotification, Self.uuidChangedPersistentStoresKey, [store, moved])
    return moved
  }

  /// Makes an open store go on in another file, such as one that the store was copied or moved to.
  ///
  /// Contexts go on with it; what they hold is as it was read, until they are refreshed. The former file is closed,
  /// once reads and writes that have begun are over, and stays.
  ///
  /// - Parameters:
  ///   - url: of a file that holds the same store; none is made.
  ///   - store: in a file, and open in this coordinator.
  /// - Returns: the store as it is now.
  /// - Throws: ``PersistenceError/Code/invalidRequest`` where the store isn't open here, or the file holds another one;
  ///   ``PersistenceError/Code/fileAccess`` where there is no file; ``PersistenceError/Code/storeTypeMismatch`` for a
  ///   store in memory.
  @discardableResult
  public func setURL(_ url: URL, for store: StoreInfo) throws -> StoreInfo {
    let open = try requireSQLite(store)
    guard store.url != nil else {
      throw PersistenceError(
        .storeTypeMismatch, "A store in memory has no file.",
        fix: "Copy it with migratePersistentStore(_:to:options:).")
    }
    guard !SQLiteStore.canCreate(at: url) else {
      throw PersistenceError(.fileAccess, at: .store(url), "There is no store.", fix: "Copy or move the file first.")
    }
    try open.reopen(at: url)
    let moved = StoreInfo(open)
    post(Self.storesDidChangeNotification, Self.uuidChangedPersistentStoresKey, [store, moved])
    return moved
  }

  func requireOpen(_ store: StoreInfo) throws -> any PersistentStore {
    if let open = openStore(identifier: store.identifier) { return open }
    throw PersistenceError(.invalidRequest, at: .store(store.url), "The store isn't open in this coordinator.")
  }

  private func requireSQLite(_ store: StoreInfo) throws -> SQLiteStore {
    if let store = try requireOpen(store) as? SQLiteStore { return store }
    throw PersistenceError(
      .storeTypeMismatch, at: .store(store.url), "A store of the type '\(store.type)' can't be copied as a file.")
  }
}
