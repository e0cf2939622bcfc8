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
      addTombstones(layout, for: map), metadata.history, in: map, formerly: former)
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
  ///
  /// - Parameter formerMap: The layout before the migration; nil if it isn't known.
  func migrateHistory(
    from former: HistoryDescription, to description: HistoryDescription, _ layout: HistoryLayout,
    _ settings: HistorySettings, in map: TableMap, formerly formerMap: TableMap? = nil
  ) throws {
    for entity in map.model.entities {
      let number = map.numbers[entity]
      if layout.hasChangedColumns, former.columns[entity.name] != description.columns[entity.name] {
        try execute(.forgetChangedColumns(ofEntity: number))
      }
      let marks = Self.markChanges(of: entity, in: map, from: formerMap)
      if let moves = description.moves(of: entity.name, from: former, marks), !layout.tombstones.isEmpty {
        let sources = moves.prefix(layout.tombstones.count).map { move in
          move.map { (index: $0.index, change: HistoryValueChange($0.mark, kept: kept)) }
        }
        try execute(.moveTombstones(sources, ofEntity: number))
      }
    }
    let author = "com.apple.coredata.schemamigrator: lightweight migration from model with digest "
      + former.digest.base64EncodedString()
    var settings = settings
    settings.oldValuesAfter = nil
    try recordTransaction(by: author, in: HistoryMap(layout, settings, in: map))
  }

  /// The preserved attributes of an entity whose bytes gain or lose a mark.
  private static func markChanges(
    of entity: Entity, in map: TableMap, from former: TableMap?
  ) -> [String: MarkChange] {
    guard let former, let before = former.model.entitiesByName[entity.name] else { return [:] }
    let preserved = PreservedAttribute.all(of: before, in: former)
    return PreservedAttribute.all(of: entity, in: map).reduce(into: [:]) { marks, now in
      guard let old = preserved.first(where: { $0.name == now.name }) else { return }
      let mark = MarkChange(from: old.attribute, to: now.attribute)
      if mark != .same { marks[now.name] = mark }
    }
  }
}
