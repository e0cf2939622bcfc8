/// Indexes added to a model after a store was created. They don't contribute to the identity of a version, and no
/// migration runs for them.
extension SQLiteStore {
  /// Creates the indexes that the model declares and the store lacks, or records them as deferred steps.
  ///
  /// A store can be used without them: if another process is writing, or the disk is full, they are created another
  /// time.
  ///
  /// - Parameter catalog: The store's catalog when it was opened.
  func makeMissingIndexes(_ catalog: StoreCatalog, defersWork: Bool) throws {
    try makeMissingUniqueIndexes(catalog)
    guard !isReadOnly, !map.hasDeclaredIndexes(in: catalog) else { return }
    do {
      try pool.write { connection in
        var metadata = try StoreMetadata(connection)
        let missing = try map.missingIndexes(in: StoreSchema(connection), besides: metadata.deferredSteps)
        let waiting = missing.filter { defersWork || metadata.isConverting($0.table) }
        for index in missing where !waiting.contains(index) { try connection.execute(.create(index)) }
        guard !waiting.isEmpty else { return }
        metadata.deferredSteps += waiting.map { .createIndex($0.name, table: $0.table) }
        try metadata.write(to: connection)
      }
    } catch let error as PersistenceError where [.storeBusy, .diskFull, .storeReadOnly].contains(error.code) {
      return
    }
  }

  /// Creates the indexes of uniqueness constraints that another program has dropped: without them, equal values would
  /// be saved.
  private func makeMissingUniqueIndexes(_ catalog: StoreCatalog) throws {
    let steps = catalog.metadata.deferredSteps
    let waiting = { (index: IndexDefinition) in steps.contains(.createIndex(index.name, table: index.table)) }
    guard !isReadOnly, !map.missingUniqueIndexes(in: catalog.schema, besides: waiting).isEmpty else { return }
    try pool.write { connection in
      for index in try map.missingUniqueIndexes(in: StoreSchema(connection), besides: waiting) {
        do {
          try connection.execute(.create(index))
        } catch let error as PersistenceError where error.code == .constraintConflict {
          throw index.duplicateError(at: .store(pool.url))
        }
      }
    }
  }
}

extension TableMap {
  /// Whether a store has every declared index, or a deferred step that creates it.
  func hasDeclaredIndexes(in catalog: StoreCatalog) -> Bool {
    missingIndexes(in: catalog.schema, besides: catalog.metadata.deferredSteps).isEmpty
  }

  fileprivate func missingIndexes(in schema: StoreSchema, besides waiting: [DeferredStep]) -> [IndexDefinition] {
    missingIndexes(in: schema, besides: waiting, comparing: \.foldedIdentifier)
  }
}
