public import Foundation

extension PersistentStoreCoordinator {
  /// Deletes the store at a URL with all of its files: the write-ahead log, its index, the journal, and the files of
  /// large values. A store that is open in this coordinator is closed first. Does nothing if there is no store.
  ///
  /// Other programs that have the store open notice the deletion before their next write.
  ///
  /// - Throws: ``PersistenceError/Code/storeBusy`` if another coordinator in this program has the store open and would
  ///   keep saving into a deleted file; ``PersistenceError/Code/notAStore`` if the file is something else, so that a
  ///   wrong path does no harm; ``PersistenceError/Code/fileAccess`` if a file can't be deleted.
  public func destroyPersistentStore(at url: URL) throws {
    let open = store(at: url)
    let location = StoreLocation(url)
    // A store in memory has no files to delete.
    guard location != .memory else { return }
    guard try location.engine.openCount(ofStoreAt: location) <= (open == nil ? 0 : 1) else {
      throw PersistenceError(
        .storeBusy, at: .store(url), "The store is open in another coordinator of this program.",
        fix: "Remove it there first.")
    }
    if let open { try remove(open) }
    try location.engine.destroyStore(at: location)
  }

  /// Switches an open store to another file, such as one that the store was copied or moved to, or from one schema on a
  /// server to another.
  ///
  /// Contexts keep using the store; their objects keep the values they read until refreshed. Active reads and writes
  /// finish in the former file, which is then closed and isn't deleted; those that wait use the new one. Remote changes
  /// are those of the new file. A context that is pinned to a state of the former one can't read until it moves on, for
  /// example by ``ManagedObjectContext/refreshAllObjects()``: ``PersistenceError/Code/queryGenerationExpired``.
  ///
  /// On a server, reads and writes that wait meanwhile fail with ``PersistenceError/Code/storeOpenFailed`` and can be
  /// repeated. A pinned context goes on reading the state of the former schema until it moves on.
  ///
  /// - Parameters:
  ///   - url: An existing file that contains the same store, or the URL of an existing schema that does.
  ///   - store: A store in a file or on a server, open in this coordinator.
  /// - Returns: The store with its new location.
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the store isn't open here or the file contains another
  ///   store; ``PersistenceError/Code/fileAccess`` if the file doesn't exist;
  ///   ``PersistenceError/Code/storeTypeMismatch`` for a store in memory, and for one on a server if the URL is that of
  ///   a file.
  @discardableResult
  public func setURL(_ url: URL, for store: StoreInfo) throws -> StoreInfo {
    let open = try requireOpen(store)
    guard store.url != nil else {
      throw PersistenceError(
        .storeTypeMismatch, "A store in memory has no file.",
        fix: "Copy it with migratePersistentStore(_:to:options:).")
    }
    let location = StoreLocation(url)
    guard try !location.engine.canCreateStore(at: location) else {
      throw PersistenceError(
        .fileAccess, at: .store(url), "The store doesn't exist.", fix: "Copy or move the file first.")
    }
    post(
      Self.storesWillChangeNotification, under: Self.uuidChangedPersistentStoresKey,
      stores: [store, StoreInfo(open, at: url)])
    try open.reopen(at: url) { watchAgain(open) }
    let moved = StoreInfo(open)
    post(Self.storesDidChangeNotification, under: Self.uuidChangedPersistentStoresKey, stores: [store, moved])
    return moved
  }

  package func requireOpen(_ store: StoreInfo) throws -> any PersistentStore {
    if let open = openStore(identifier: store.identifier) { return open }
    throw PersistenceError(.invalidRequest, at: .store(store.url), "The store isn't open in this coordinator.")
  }
}
