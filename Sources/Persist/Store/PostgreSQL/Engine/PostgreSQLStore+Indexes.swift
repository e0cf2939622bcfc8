/// Indexes added to a model after a store was created. They don't contribute to the identity of a version, and no
/// migration runs for them.
extension PostgreSQLStore {
  /// Creates the indexes that the model declares and the store lacks.
  ///
  /// A store can be used without them: if another program has locked a table, or the user lacks the right, they are
  /// created another time.
  func makeMissingIndexes(_ catalog: StoreCatalog) throws {
    guard !isReadOnly else { return }
    let names = Set(catalog.schema.indexes.map { ServerText.name($0.name) })
    let missing = map.declaredIndexDefinitions.filter { index in
      !names.contains(ServerText.name(index.name))
        && index.columns.allSatisfy { catalog.schema.column($0.name, of: index.table) != nil }
    }
    guard !missing.isEmpty else { return }
    do {
      try pool.write { transaction in
        try transaction.run([ServerText.lock(pool.address.schema)])
        // Another program may have created them while this one waited for the lock.
        let present = Set(
          try transaction.all(
            "SELECT indexname::text FROM pg_indexes WHERE schemaname = \(text: pool.address.schema)"
          ) { $0.text($1, 0) })
        transaction.runLast(
          missing.filter { !present.contains(ServerText.name($0.name)) }.flatMap { ServerText.make($0) })
      }
    } catch let error as PersistenceError
      where [.storeBusy, .diskFull, .storeReadOnly, .storeOpenFailed].contains(error.code)
    {
      return
    }
  }
}
