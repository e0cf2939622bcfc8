import Foundation

/// Switching the history on and off.
extension HistoryConnection {
  /// Creates or completes the history's tables and switches it on; the caller holds the transaction.
  @_semantics("optimize.sil.specialize.generic.never")
  package func setUpHistory(in map: TableMap, keeping content: HistoryContent?) throws -> HistoryMap {
    let stored = try storeMetadata()
    var metadata = stored
    let schema = try storeSchema()
    let description = HistoryDescription(map)
    if let former = HistoryLayout(schema) {
      let layout = try addTombstones(former, for: map)
      if metadata.history.isOff {
        // Changes since then weren't recorded: the next number is skipped, so that earlier tokens are recognized.
        let number = try Self.historyNumber(after: lastHistoryNumbers().transaction, in: url)
        try setLastTransaction(number)
        metadata.history.isOff = false
        metadata.history.completeAfter = number
      }
      if let former = metadata.history.description, former.digest != description.digest {
        try moveColumns(HistoryColumnsMove(from: former, to: map), layout)
        try recordMigration(from: former, layout, metadata.history, in: map)
        try convertOldValues(nil, to: map, metadata.history)
        metadata.history.description = description
      }
    } else {
      try createHistory(schema, tombstones: HistoryLayout.tombstoneCount(of: map))
      try setLastTransaction(metadata.history.completeAfter)
      metadata.history.isOff = false
      metadata.history.description = description
    }
    try setOldValues(content, of: map, &metadata.history)
    if metadata != stored { try replace(metadata) }
    guard let layout = HistoryLayout(try storeSchema()) else {
      throw Self.damagedHistory(url, "Its tables can't be created.")
    }
    return HistoryMap(layout, settings: metadata.history, in: map)
  }

  @_semantics("optimize.sil.specialize.generic.never")
  private func createHistory(_ schema: StoreSchema, tombstones: Int) throws {
    let tables = HistoryLayout.tables(tombstones: tombstones)
    for table in tables where schema.hasTable(named: table.name) {
      throw PersistenceError(
        .invalidRequest, at: .store(url),
        "The store can't record its history, because its table '\(table.name)' isn't a history table.",
        fix: "Rename the table, or open the store without tracksHistory.")
    }
    for table in tables { try create(table) }
    for index in HistoryLayout.indexes { try create(index) }
    for number in HistoryLayout.entityNames.keys.sorted() { try setLastNumber(0, ofEntity: number) }
  }

  private func setLastTransaction(_ number: Int64) throws {
    try setLastNumber(number, ofEntity: HistoryLayout.EntityNumber.transaction)
  }

  /// Switches the history off; the caller holds the transaction.
  package func disableHistory(keepingPast: Bool, in map: TableMap) throws -> HistoryMap? {
    var metadata = try storeMetadata()
    guard let layout = HistoryLayout(try storeSchema()) else { return nil }
    let number = try lastHistoryNumbers().transaction
    metadata.history.isOff = true
    if !keepingPast {
      // Numbers that are used up start again.
      metadata.history.completeAfter = number < Self.greatestHistoryNumber ? number + 1 : 0
      metadata.history.description = nil
      try discardOldValues(&metadata.history)
      for table in HistoryLayout.tables(tombstones: 0) { try execute(.dropTable(ofHistory: table.name)) }
      try execute(.deleteHistoryNumbers)
    }
    try replace(metadata)
    return keepingPast ? HistoryMap(layout, settings: metadata.history, in: map) : nil
  }
}
