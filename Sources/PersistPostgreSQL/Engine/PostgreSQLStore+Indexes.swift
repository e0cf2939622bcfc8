import Persist

/// Indexes added to a model after a store was created. They don't contribute to the identity of a version, and no
/// migration runs for them.
extension PostgreSQLStore {
  /// Creates the indexes that the model declares and the store lacks, or records them as deferred steps.
  ///
  /// A store can be used without them: if another program has locked a table, or the user lacks the right, they are
  /// created another time.
  func makeMissingIndexes(_ catalog: StoreCatalog, defersWork: Bool) throws {
    try makeMissingUniqueIndexes(catalog)
    guard !isReadOnly, !map.missingIndexes(in: catalog.schema, besides: catalog.metadata.deferredSteps).isEmpty else {
      return
    }
    do {
      try pool.write { transaction in
        try transaction.run([ServerText.lock(pool.address.schema)])
        // Another program may have created them while this one waited for the lock.
        var metadata = try StoreMetadata(transaction.session)
        let schema = try StoreSchema(transaction.session)
        let missing = map.missingIndexes(in: schema, besides: metadata.deferredSteps)
        guard defersWork else { return transaction.runLast(missing.flatMap { ServerText.make($0) }) }
        metadata.deferredSteps += missing.map { .createIndex($0.name, table: $0.table) }
        transaction.runLast([try metadata.update()])
      }
    } catch let error as PersistenceError
      where [.storeBusy, .diskFull, .storeReadOnly, .storeOpenFailed].contains(error.code)
    {
      return
    }
  }

  /// Creates the indexes of uniqueness constraints that another program has dropped: without them, equal values would
  /// be saved.
  private func makeMissingUniqueIndexes(_ catalog: StoreCatalog) throws {
    let steps = catalog.metadata.deferredSteps
    let waiting = { (index: IndexDefinition) in steps.contains(.createIndex(index.name, table: index.table)) }
    guard !isReadOnly, !map.missingUniqueIndexes(in: catalog.schema, besides: waiting).isEmpty else { return }
    try pool.write { transaction in
      try transaction.run([ServerText.lock(pool.address.schema)])
      let schema = try StoreSchema(transaction.session)
      for index in map.missingUniqueIndexes(in: schema, besides: waiting) {
        do {
          try transaction.run(ServerText.make(index))
        } catch let failure as ServerFailure where failure.state == "23505" {
          throw index.duplicateError(at: .store(pool.url))
        }
      }
    }
  }
}

extension TableMap {
  fileprivate func missingIndexes(in schema: StoreSchema, besides waiting: [DeferredStep]) -> [IndexDefinition] {
    missingIndexes(in: schema, besides: waiting, comparing: ServerText.name)
  }
}
