import Foundation

/// Adapting a history to another model, when the store is first opened after a migration.
extension SQLiteConnection {
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
    let writer = try HistoryWriter(
      HistoryPlan(layout, settings, in: map), by: HistoryOrigin(author: author), self, folder: nil)
    try writer.finishWithoutChanges()
  }
}
