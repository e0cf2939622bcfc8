public import Foundation

/// Copies of stores, with what is parked in them.
extension PersistentStoreCoordinator {
  /// Replaces the store at a URL with a copy of another one, for example to restore a backup.
  ///
  /// An existing store's content is replaced in one transaction: if the program is killed at any instant, the file
  /// contains either the complete old store or the complete new one. The copy and its objects have the original's
  /// identifiers, but another life begins: tokens of the old history have expired, and coordinators that have the store
  /// open refuse to read and write with ``PersistenceError/Code/storeExchanged`` until they open it again, since their
  /// contexts know objects that no longer exist.
  ///
  /// - Parameters:
  ///   - destination: The file to replace, which isn't open in this coordinator and needn't exist.
  ///   - source: A store of any model, open or not. It isn't changed.
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the destination is open here;
  ///   ``PersistenceError/Code/notAStore``; ``PersistenceError/Code/fileAccess``; ``PersistenceError/Code/storeBusy``
  ///   if another program is writing.
  public func replacePersistentStore(at destination: URL, withPersistentStoreFrom source: URL) throws {
    try replacePersistentStore(at: StoreLocation(destination), withPersistentStoreFrom: StoreLocation(source))
  }

  /// Replaces a store with a copy of another one, which may be of another kind: from a file to a server, or back.
  ///
  /// Keys, versions, orders, metadata and the identifier are those of the original. On a server, the copy is made in a
  /// schema beside the store's and takes its place in one transaction.
  ///
  /// ```swift
  /// try coordinator.replacePersistentStore(at: .postgreSQL("postgresql://…"), withPersistentStoreFrom: .file(url))
  /// ```
  ///
  /// - Parameters:
  ///   - destination: A store that isn't open in this coordinator and needn't exist; not one in memory.
  ///   - source: A store of any model, open or not. It isn't changed. The model of a store that doesn't contain it must
  ///     be known to the coordinator.
  public func replacePersistentStore(
    at destination: StoreLocation, withPersistentStoreFrom source: StoreLocation
  ) throws {
    guard let url = destination.url, let original = source.url else {
      throw PersistenceError(
        .storeTypeMismatch, "A store in memory can neither be replaced nor copied.", fix: "Name a file or a server.")
    }
    guard url.standardizedFileURL != original.standardizedFileURL else {
      throw PersistenceError(
        .invalidRequest, at: .store(url), "A store can't be replaced by itself.", fix: "Name another source.")
    }
    guard store(at: url) == nil else {
      throw PersistenceError(
        .invalidRequest, at: .store(url),
        "The store is open in this coordinator and can't be replaced.",
        fix: "Remove it first, and add it again afterward.")
    }
    let known = StoreMatch.registry(registry, with: managedObjectModel)
    try StoreCopies.replaceStore(
      at: destination, with: source, registry: known, parked: .copied(by: ParkedTransfer(known)))
  }

  /// Copies a consistent snapshot of an open store into a new file: a backup while the store is in use.
  ///
  /// Other connections can read during the copy; saves wait until it is complete. A copy from a server or to one shows
  /// a state that it holds, so that saves need not wait, unless the store keeps large values in files.
  ///
  /// The copy includes the content of the write-ahead log and the files of large values. It gets its name only once
  /// complete, and so does each of those files; nothing remains of a copy that fails. Memory use doesn't grow with the
  /// store.
  ///
  /// ```swift
  /// try coordinator.backUp(store, to: folder.appendingPathComponent("Backup.sqlite"))
  /// // later, with the store closed
  /// try coordinator.replacePersistentStore(at: url, withPersistentStoreFrom: backup)
  /// ```
  ///
  /// - Throws: ``PersistenceError/Code/fileAccess`` if the file already exists or can't be written.
  /// - SeeAlso: <https://sqlite.org/backup.html>
  public func backUp(_ store: StoreInfo, to url: URL) throws {
    try StoreCopies.backUp(
      requireOpen(store), to: StoreLocation(url), parked: .copied(by: ParkedTransfer(registry)))
  }

  /// Moves a store to another file, or between a file and memory, and replaces it in this coordinator with the new one.
  ///
  /// The old file remains unchanged; ``destroyPersistentStore(at:)`` removes it. Everything is moved: relationships,
  /// files of large values, the application's metadata, including those set since the last save. Saves of this program
  /// wait meanwhile, and then fail because the store is closed.
  ///
  /// The new store and its objects have new identifiers: rows keep their keys, but identifiers and URIs of the old
  /// store can no longer be resolved here. Reset or recreate contexts afterward.
  ///
  /// - Parameters:
  ///   - store: A store of this coordinator.
  ///   - url: The new file, which must not exist yet; nil for a store in memory.
  ///   - options: The options for opening the new store.
  /// - Returns: The new store.
  /// - Throws: ``PersistenceError/Code/fileAccess`` if the file already exists or can't be written;
  ///   ``PersistenceError/Code/invalidRequest`` if a store on a server, or an encrypted one, contains parked values and
  ///   would lose them in memory. The coordinator then keeps the old store.
  @discardableResult
  public func migratePersistentStore(
    _ store: StoreInfo, to url: URL?, options: StoreOptions = StoreOptions()
  ) throws -> StoreInfo {
    var options = options
    options.configuration = options.configuration ?? store.configuration
    try requireConfiguration(options.configuration)
    let old = try requireOpen(store)
    post(Self.willRemoveStoreNotification, under: Self.removedPersistentStoresKey, stores: [store])
    post(Self.storesWillChangeNotification, under: Self.removedPersistentStoresKey, stores: [store])
    let parked = ParkedCopying.copied(by: ParkedTransfer(registry))
    let new = try StoreCopies.move(old, to: StoreLocation(url), options: options, parked: parked) {
      replace(old, with: options.instrument?.observing($0) ?? $0)
    }
    let moved = StoreInfo(new)
    post(
      Self.storesDidChangeNotification,
      [
        Self.addedPersistentStoresKey: [moved], Self.removedPersistentStoresKey: [store],
        Self.uuidChangedPersistentStoresKey: [store, moved],
      ])
    return moved
  }
}
