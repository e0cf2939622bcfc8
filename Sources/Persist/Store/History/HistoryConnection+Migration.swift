import Foundation

/// Adapting a history to another model: as part of a migration, or when a store is first opened that was migrated in
/// another way, such as by SQL files.
extension HistoryConnection {
  @_semantics("optimize.sil.specialize.generic.never")
  package func adaptHistory(from former: TableMap, to map: TableMap, renames: PropertyRenames) throws {
    // Nearly every store has no history, and its schema needn't be read again.
    guard try hasTable(named: HistoryLayout.transactionTable),
      let layout = HistoryLayout(try storeSchema())
    else { return }
    var metadata = try storeMetadata()
    try convertOldValues(OldValuesMove(from: former, to: map, renames: renames), to: map, metadata.history)
    let record = metadata.history.description ?? HistoryDescription(former)
    let move = HistoryColumnsMove(from: record, to: map, by: .init(former: former, renames: renames))
    let completed = try addTombstones(layout, for: map)
    try moveColumns(move, completed)
    // The past of a history that is switched off remains readable, but nothing is added.
    if !metadata.history.isOff { try recordMigration(from: record, completed, metadata.history, in: map) }
    metadata.history.description = HistoryDescription(map)
    try replace(metadata)
  }

  /// Adds the columns for values of deleted objects that a model needs.
  package func addTombstones(_ layout: HistoryLayout, for map: TableMap) throws -> HistoryLayout {
    try addTombstones(layout, count: HistoryLayout.tombstoneCount(of: map))
  }

  package func addTombstones(_ layout: HistoryLayout, count needed: Int) throws -> HistoryLayout {
    guard layout.tombstones.count < needed else { return layout }
    for index in layout.tombstones.count..<needed { try execute(.addTombstone(HistoryLayout.tombstone(index))) }
    return HistoryLayout(try storeSchema()) ?? layout
  }

  /// Adapts the columns of earlier entries; the caller holds the transaction.
  package func moveColumns(_ move: HistoryColumnsMove, _ layout: HistoryLayout) throws {
    for entity in move.entities {
      if layout.hasChangedColumns { try moveBits(entity.changedColumns, ofEntity: entity.number) }
      if let moves = entity.tombstones, !layout.tombstones.isEmpty {
        let sources = moves.prefix(layout.tombstones.count).map { move in
          move.map { (index: $0.index, change: HistoryValueChange($0.mark, kept: kept)) }
        }
        try execute(.moveTombstones(sources, ofEntity: entity.number))
      }
    }
  }

  /// The number of different bits that one statement translates. It has two parameters for each, of at most 32,766 in
  /// SQLite and 65,535 in PostgreSQL.
  private static var maximumBits: Int { 15_000 }

  /// Translates the bits by one statement: new bits may be equal to old ones. There are mostly few different bits,
  /// however many entries have them; those beyond the maximum are forgotten.
  private func moveBits(_ move: HistoryColumnsMove.BitsMove, ofEntity number: Int) throws {
    switch move {
    case .none: break
    case .forgotten: try execute(.forgetChangedColumns(ofEntity: number))
    case .translated(let translation):
      let present = try all(of: .changedColumns(ofEntity: number, limit: Self.maximumBits)) { $0.data(0) }
      let changes = present.compactMap { old in translation.translated(old).map { (old: old, new: $0) } }
      let isChanged = !changes.isEmpty
      try execute(isChanged ? .translate(changes, ofEntity: number) : .forgetChangedColumns(ofEntity: number))
    }
  }

  /// Records that the store was migrated; the caller holds the transaction.
  ///
  /// As Core Data does, it adds a transaction without changes whose author names the migration.
  package func recordMigration(
    from former: HistoryDescription, _ layout: HistoryLayout, _ settings: HistorySettings, in map: TableMap
  ) throws {
    let author = HistoryTransaction.migratingAuthor + ": lightweight migration from model with digest "
      + former.digest.base64EncodedString()
    var settings = settings
    settings.oldValuesAfter = nil
    try recordTransaction(by: author, in: HistoryMap(layout, settings: settings, in: map))
  }
}
