import Foundation

/// Switching the history on and off.
extension SQLiteStore {
  /// Returns the plan for the history of a store that is being opened, after creating anything that is missing.
  ///
  /// A store with a history continues it, whoever opens the store. For a store without one, or whose history was
  /// switched off, it is set up only if the options request it.
  static func setUpHistory(
    _ pool: SQLiteConnectionPool, _ catalog: StoreCatalog, _ map: TableMap, _ options: StoreOptions
  ) throws -> HistoryPlan? {
    let settings = catalog.metadata.history
    let layout = HistoryLayout(catalog.schema)
    let isWanted = options.requestsHistory || (layout != nil && !settings.isOff)
    let hasColumns = layout.map { $0.tombstones.count >= HistoryLayout.tombstoneCount(of: map) } ?? false
    let isCurrent = settings.description.map { $0.digest == HistoryDescription(map).digest } ?? true
    let isContent = options.historyKeeps.map { ($0 == .oldValues) == (settings.oldValuesAfter != nil) } ?? true
    guard isWanted, settings.isOff || !hasColumns || !isCurrent || !isContent, !pool.isReadOnly else {
      return layout.map { HistoryPlan($0, settings, in: map) }
    }
    return try pool.write { try $0.setUpHistory(in: map, keeping: options.historyKeeps) }
  }

  /// Updates the plan after another program has created, changed or deleted the history.
  func renewHistory(_ catalog: StoreCatalog) {
    let plan = HistoryLayout(catalog.schema).map { HistoryPlan($0, catalog.metadata.history, in: map) }
    historyPlan.withLock { $0 = plan }
  }
}

extension SQLiteConnection {
  /// Creates or completes the history's tables and switches it on; the caller holds the transaction.
  func setUpHistory(in map: TableMap, keeping content: HistoryContent?) throws -> HistoryPlan {
    let stored = try StoreMetadata(self)
    var metadata = stored
    let schema = try StoreSchema(self)
    let description = HistoryDescription(map)
    if let former = HistoryLayout(schema) {
      let layout = try addTombstones(former, for: map)
      if metadata.history.isOff {
        // Changes since then weren't recorded: the next number is skipped, so that earlier tokens are recognized.
        let number = try first(.lastHistoryNumbers) { $0.integer(1) + 1 } ?? 1
        try setLastTransaction(number)
        metadata.history.isOff = false
        metadata.history.completeAfter = number
      }
      if let former = metadata.history.description, former.digest != description.digest {
        try migrateHistory(from: former, to: description, layout, metadata.history, in: map)
        try migrateOldValues(nil, to: map)
        metadata.history.description = description
      }
    } else {
      try createHistory(schema, tombstones: HistoryLayout.tombstoneCount(of: map))
      try setLastTransaction(metadata.history.completeAfter)
      metadata.history.isOff = false
      metadata.history.description = description
    }
    try setOldValues(content, &metadata.history)
    if metadata != stored { try metadata.write(to: self) }
    guard let layout = HistoryLayout(try StoreSchema(self)) else {
      throw SQLiteHistory.damaged(url, "Its tables can't be created.")
    }
    return HistoryPlan(layout, metadata.history, in: map)
  }

  private func createHistory(_ schema: StoreSchema, tombstones: Int) throws {
    let tables = HistoryLayout.tables(tombstones: tombstones)
    for table in tables where schema.table(named: table.name) != nil {
      throw PersistenceError(
        .invalidRequest, at: .store(url),
        "The store can't record its history, because its table '\(table.name)' isn't a history table.",
        fix: "Rename the table, or open the store without tracksHistory.")
    }
    for table in tables { try execute(.create(table)) }
    for index in HistoryLayout.indexes { try execute(.create(index)) }
    for (number, name) in HistoryLayout.entityNames.sorted(by: { $0.key < $1.key }) {
      try execute(.setGreatestKey(0, entity: number, name: name))
    }
  }

  private func setLastTransaction(_ number: Int64) throws {
    let entity = HistoryLayout.EntityNumber.transaction
    try execute(.setGreatestKey(number, entity: entity, name: HistoryLayout.entityNames[entity] ?? ""))
  }

  /// Switches the history off; the caller holds the transaction.
  func disableHistory(keepingPast: Bool, in map: TableMap) throws -> HistoryPlan? {
    var metadata = try StoreMetadata(self)
    guard let layout = HistoryLayout(try StoreSchema(self)) else { return nil }
    let number = try first(.lastHistoryNumbers) { $0.integer(1) } ?? 0
    metadata.history.isOff = true
    if !keepingPast {
      metadata.history.completeAfter = number + 1
      metadata.history.description = nil
      try discardOldValues(&metadata.history)
      for table in HistoryLayout.tables(tombstones: 0) { try execute(.dropTable(ofHistory: table.name)) }
      try execute(.deleteHistoryNumbers)
    }
    try metadata.write(to: self)
    return keepingPast ? HistoryPlan(layout, metadata.history, in: map) : nil
  }
}
