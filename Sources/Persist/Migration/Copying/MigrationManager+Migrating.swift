public import Foundation

extension MigrationManager {
  /// Migrates a store file into another file, and records that in the migration log of the other file. The source isn't
  /// changed.
  ///
  /// If the other file is already a store of the destination model, the objects are added to it: thus several mapping
  /// models, each with a separate manager, can share one hop. They are added to a copy beside the store, which replaces
  /// the store's content at the end; others can't write to the store meanwhile.
  ///
  /// - Parameters:
  ///   - source: a store of ``sourceModel``.
  ///   - destination: the URL of a nonexistent file, or of a store of ``destinationModel``. If the migration fails, a
  ///     new file is deleted, and an existing store is unchanged.
  ///   - mappingModel: the mapping model to execute.
  ///   - policies: the classes that the mapping model names.
  /// - Throws: ``PersistenceError/Code/incompatibleModel`` if a store has another model;
  ///   ``PersistenceError/Code/storeBusy`` if others write to an existing destination;
  ///   ``PersistenceError/Code/migrationCancelled``, or the error passed to ``cancelMigration(with:)``;
  ///   ``PersistenceError/Code/missingMappingModel`` for a policy that isn't registered; errors thrown by policies;
  ///   ``PersistenceError/Code/migrationFailed``.
  public func migrateStore(
    from source: URL, to destination: URL, mappingModel: MappingModel, policies: MigrationPolicies = []
  ) throws {
    try migrateStore(
      from: source, to: destination, mappingModel: mappingModel, policies: policies, coreDataHashes: nil,
      isLogged: true)
  }

  /// - Returns: the number of rows in the source; nil if counting them would take too long.
  @discardableResult
  func migrateStore(
    from source: URL, to destination: URL, mappingModel: MappingModel, policies: MigrationPolicies,
    coreDataHashes: [String: Data]?, goesByObject: Bool = false, isLogged: Bool = false
  ) throws -> Int? {
    begin(mappingModel)
    defer { end() }
    return try CopyMigration(
      source: source, destination: destination, mappingModel: mappingModel, policies: policies, manager: self,
      coreDataHashes: coreDataHashes, goesByObject: goesByObject, isLogged: isLogged
    ).run()
  }
}
