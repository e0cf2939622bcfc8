import Foundation

/// Adapting a history to another model: as part of a migration, or when a store is first opened that was migrated in
/// another way, such as by SQL files.
extension HistoryConnection {
  func adaptHistory(from former: TableMap, to map: TableMap, renames: PropertyRenames) throws {
    // Nearly every store has no history, and its schema needn't be read again.
    guard try hasTable(named: HistoryLayout.transactionTable),
      let layout = HistoryLayout(try storeSchema())
    else { return }
    var metadata = try storeMetadata()
    try migrateOldValues(OldValuesMove(from: former, to: map, renames: renames), to: map, metadata.history)
    // A history that is switched off is adapted when it is switched on.
    guard !metadata.history.isOff else { return }
    let description = HistoryDescription(map)
    try migrateHistory(
      from: metadata.history.description ?? HistoryDescription(former), to: description,
      addTombstones(layout, for: map), metadata.history, in: map)
    metadata.history.description = description
    try replace(metadata)
  }

  /// Adds the columns for values of deleted objects that a model needs.
  func addTombstones(_ layout: HistoryLayout, for map: TableMap) throws -> HistoryLayout {
    let needed = HistoryLayout.tombstoneCount(of: map)
    guard layout.tombstones.count < needed else { return layout }
    for index in layout.tombstones.count..<needed { try execute(.addTombstone(HistoryLayout.tombstone(index))) }
    return HistoryLayout(try storeSchema()) ?? layout
  }

  /// Records that the store was migrated, and adapts the columns of earlier entries; the caller holds the transaction.
  ///
  /// As Core Data does, it adds a transaction without changes whose author names the migration.
  func migrateHistory(
    from former: HistoryDescription, to description: HistoryDescription, _ layout: HistoryLayout,
    _ settings: HistorySettings, in map: TableMap
  ) throws {
    for entity in map.model.entities {
      let number = map.numbers[entity]
      if layout.hasChangedColumns, former.columns[entity.name] != description.columns[entity.name] {
        try execute(.forgetChangedColumns(ofEntity: number))
      }
      if let moves = description.moves(of: entity.name, from: former), !layout.tombstones.isEmpty {
        try execute(.moveTombstones(moves.prefix(layout.tombstones.count), ofEntity: number))
      }
    }
    let author = "com.apple.coredata.schemamigrator: lightweight migration from model with digest "
      + former.digest.base64EncodedString()
    var settings = settings
    settings.oldValuesAfter = nil
    try recordTransaction(by: author, in: HistoryMap(layout, settings, in: map))
  }
}
