public import Foundation

extension PersistentStoreCoordinator {
  /// The types of stores that can be added.
  public static var registeredStoreTypes: [StoreType] { [.sqlite, .inMemory] }

  /// What the store of a file says of itself. The file isn't changed, and needn't be of a known model.
  ///
  /// - Throws: ``PersistenceError/Code/fileAccess``, ``PersistenceError/Code/notAStore``,
  ///   ``PersistenceError/Code/storeDamaged``.
  public static func metadata(at url: URL) throws -> StoreMetadata {
    try SQLiteConnection.reading(url) { try StoreMetadata($0) }
  }

  /// Replaces the metadata of the store of a file, at once.
  ///
  /// A stack that has the store open sees them when it asks next.
  ///
  /// - Parameter metadata: as ``metadata(at:)`` gave them, with the application's own keys changed. What says which
  ///   model the store has stays as it is.
  public static func setMetadata(_ metadata: StoreMetadata, at url: URL) throws {
    let pool = try SQLiteConnectionPool(url, options: StoreOptions())
    defer { pool.close() }
    try pool.write { try StoreMetadata($0).replacingApplicationValues(by: metadata).write(to: $0) }
  }

  /// What an open store says of itself, with what was set and not saved yet.
  public func metadata(of store: StoreInfo) throws -> StoreMetadata { try requireOpen(store).metadata() }

  /// Replaces the application's own metadata of an open store. They reach the file with the next save of a context.
  ///
  /// ```swift
  /// var metadata = try coordinator.metadata(of: store)
  /// metadata.values["lastImport"] = .date(.now)
  /// try coordinator.setMetadata(metadata, of: store)
  /// try context.save()
  /// ```
  ///
  /// - Throws: ``PersistenceError/Code/storeReadOnly``; ``PersistenceError/Code/invalidRequest`` for another
  ///   identifier.
  public func setMetadata(_ metadata: StoreMetadata, of store: StoreInfo) throws {
    try requireOpen(store).setMetadata(metadata)
  }

  /// Writes the metadata that were set and that no save of rows took along.
  func savePendingMetadata() throws {
    for store in openStores { try (store as? SQLiteStore)?.savePendingMetadata() }
  }
}
