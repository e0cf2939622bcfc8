public import Foundation

extension PersistentStoreCoordinator {
  /// What the store of a file says of itself. The file isn't changed, and needn't be of a known model.
  ///
  /// - Throws: ``PersistError/Code/fileAccess``, ``PersistError/Code/notAStore``, ``PersistError/Code/storeDamaged``.
  public static func metadata(at url: URL) throws -> StoreMetadata {
    let pool = try SQLiteConnectionPool(url, options: StoreOptions(isReadOnly: true))
    defer { pool.close() }
    return try pool.readOnce { try StoreMetadata($0) }
  }

  /// Replaces the metadata of a store that isn't open, at once.
  ///
  /// - Parameter metadata: as ``metadata(at:)`` gave them, with the application's own keys changed.
  public static func setMetadata(_ metadata: StoreMetadata, at url: URL) throws {
    let pool = try SQLiteConnectionPool(url, options: StoreOptions())
    defer { pool.close() }
    try pool.write { try metadata.write(to: $0) }
  }

  /// What an open store says of itself.
  public func metadata(of store: StoreInfo) throws -> StoreMetadata { try requireOpen(store).metadata() }

  /// Replaces the application's own metadata of an open store, at once.
  public func setMetadata(_ metadata: StoreMetadata, of store: StoreInfo) throws {
    try requireOpen(store).setMetadata(metadata)
  }

  /// Deletes the store of a file and everything that belongs to it: its log, its index, its journal, its files of
  /// large values. Where it is open in this coordinator it is closed first. Where there is nothing, nothing happens.
  ///
  /// - Throws: ``PersistError/Code/notAStore`` where the file is something else, so that a wrong path costs nothing;
  ///   ``PersistError/Code/fileAccess`` where a file can't be deleted.
  public func destroyStore(at url: URL) throws {
    if let open = store(at: url) { try remove(open) }
    try StoreFiles(storeAt: url).delete()
  }

  private func requireOpen(_ store: StoreInfo) throws -> any PersistentStore {
    if let open = openStore(identifier: store.identifier) { return open }
    throw PersistError(.invalidRequest, at: .store(store.url), "The store isn't open in this coordinator.")
  }
}
