public import Foundation

extension PersistentStoreCoordinator {
  /// The store types that can be added.
  public static var registeredStoreTypes: [StoreType] { [.sqlite, .inMemory, .postgreSQL] }

  /// Reads the metadata of the store at a URL. The file isn't changed, and its model needn't be known.
  ///
  /// - Throws: ``PersistenceError/Code/fileAccess``, ``PersistenceError/Code/notAStore``,
  ///   ``PersistenceError/Code/storeDamaged``.
  public static func metadata(at url: URL) throws -> StoreMetadata {
    try StoreIdentification.metadata(storeAt: url)
  }

  /// Replaces the metadata of the store at a URL immediately.
  ///
  /// A stack that has the store open sees the new metadata on its next read.
  ///
  /// - Parameters:
  ///   - metadata: The result of ``metadata(at:)``, with changes to the application's own keys. Entries that identify
  ///     the store's model remain unchanged.
  ///   - url: The file of the store.
  public static func setMetadata(_ metadata: StoreMetadata, at url: URL) throws {
    let location = StoreLocation(url)
    try location.engine.setMetadata(metadata, ofStoreAt: location)
  }

  /// Returns the metadata of an open store, including changes that aren't saved yet.
  public func metadata(of store: StoreInfo) throws -> StoreMetadata { try requireOpen(store).metadata() }

  /// Replaces the application's own metadata of an open store. The next save of a context writes it to the file.
  ///
  /// ```swift
  /// var metadata = try coordinator.metadata(of: store)
  /// metadata.values["lastImport"] = .date(.now)
  /// try coordinator.setMetadata(metadata, of: store)
  /// try context.save()
  /// ```
  ///
  /// - Throws: ``PersistenceError/Code/storeReadOnly``; ``PersistenceError/Code/invalidRequest`` if the identifier
  ///   differs.
  public func setMetadata(_ metadata: StoreMetadata, of store: StoreInfo) throws {
    try requireOpen(store).setMetadata(metadata)
  }

  /// Writes pending metadata that no save of rows has included.
  func savePendingMetadata() throws {
    for store in openStores { try store.savePendingMetadata() }
  }
}
