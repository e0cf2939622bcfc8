import Foundation
import Persist

/// The history of a store that serves two models.
extension HistoryExpansion {
  /// The form of the history for a program with a model; nil if the store serves one model or has no history.
  ///
  /// - Parameters:
  ///   - session: Holds the transaction.
  ///   - catalog: That of the model.
  init?(_ session: ServerSession, _ catalog: StoreCatalog, for map: TableMap) throws {
    guard catalog.isExpanded, HistoryLayout(catalog.schema) != nil, let record = try OnlineRecord(session) else {
      return nil
    }
    let store = try StoreCatalog(session)
    guard store.record?.isOne(of: map.model) == true else {
      let first = try session.identify(among: nil, known: store).tableMap
      self.init(first: first, second: map, renames: record.renames, side: .second)
      return
    }
    let model = try ManagedObjectModel(withFlaws: ModelDescription(json: record.model, from: session.url))
    guard let second = try store.serving(model, session)?.tableMap(of: model) else { return nil }
    self.init(first: map, second: second, renames: record.renames, side: .first)
  }
}

extension HistoryExpansion {
  /// The form for programs with the model that remains.
  fileprivate init(from other: TableMap, to map: TableMap, _ record: OnlineRecord) {
    let isForward = record.isOne(of: map.model)
    self.init(
      first: isForward ? other : map, second: isForward ? map : other, renames: record.renames,
      side: isForward ? .second : .first)
  }
}

extension ServerHistoryConnection {
  /// Prepares the history for programs with the second model; the caller holds the transaction.
  func expand(_ expansion: HistoryExpansion) throws {
    guard let layout = HistoryLayout(try storeSchema()) else { return }
    var metadata = try storeMetadata()
    if metadata.history.description == nil {
      metadata.history.description = HistoryDescription(expansion.first)
      try replace(metadata)
    }
    _ = try addTombstones(layout, count: expansion.tombstoneCount)
    guard metadata.history.oldValuesAfter != nil else { return }
    try session.run(OldValueTriggers.additional(expansion).flatMap(\.statements))
  }

  /// Reduces the entries to one of the two models; the caller holds the transaction. Comes before exclusive locks,
  /// because it takes time in proportion to the entries.
  ///
  /// - Parameters:
  ///   - other: The layout of the model that goes.
  ///   - map: The layout of the remaining model.
  func contractEntries(from other: TableMap, to map: TableMap, _ record: OnlineRecord) throws {
    guard let layout = HistoryLayout(try storeSchema()) else { return }
    let expansion = HistoryExpansion(from: other, to: map, record)
    // Entities of both models have the same number in both.
    let gone = Set(other.tables.map(\.number)).subtracting(map.tables.map(\.number)).sorted()
    if !gone.isEmpty {
      try session.run([
        "DELETE FROM \(table: HistoryLayout.changeTable) WHERE changed_entity IN (\(numbers: gone))"
      ])
    }
    if try hasTable(named: OldValuesLayout.valueTable) {
      let move = expansion.side == .second ? SharedSQL.statements(expansion.endOfOldValues, kept: kept) : []
      for statement in move + SharedSQL.pruneOldValues(to: OldValuesLayout(map)) { try execute(statement) }
    }
    try moveColumns(expansion.endOfColumns, layout)
    guard layout.hasChangedColumns else { return }
    for entity in map.model.entities {
      try reduceChangedColumns(ofEntity: map.numbers[entity], expansion.recordedColumns(of: entity))
    }
  }

  /// Adapts the history at the end of a migration.
  ///
  /// - Parameter record: That of an online migration, which has reduced the entries; nil for other migrations.
  func adaptHistory(
    from former: TableMap, to map: TableMap, renames: PropertyRenames, after record: OnlineRecord?
  ) throws {
    guard let record else { return try adaptHistory(from: former, to: map, renames: renames) }
    try contract(from: former, to: map, record)
  }

  /// Records the remaining model in the history whose entries are reduced to it; the caller holds the transaction, and
  /// the triggers of ``expand(_:)`` are gone.
  private func contract(from other: TableMap, to map: TableMap, _ record: OnlineRecord) throws {
    guard let layout = HistoryLayout(try storeSchema()) else { return }
    let expansion = HistoryExpansion(from: other, to: map, record)
    var metadata = try storeMetadata()
    if metadata.history.oldValuesAfter != nil { try keepOldValues(of: map) }
    if expansion.side == .second, !metadata.history.isOff {
      try recordMigration(from: HistoryDescription(expansion.first), layout, metadata.history, in: map)
    }
    metadata.history.description = HistoryDescription(map)
    try replace(metadata)
  }

  /// Translates the bits of changed columns. There are few different ones, however many entries have them.
  private func reduceChangedColumns(ofEntity number: Int, _ columns: RecordedColumns) throws {
    let present = try session.all(
      """
      SELECT DISTINCT changed_columns FROM \(table: HistoryLayout.changeTable) \
      WHERE changed_entity = \(number: Int64(number)) AND changed_columns IS NOT NULL
      """
    ) { $0.data($1, 0) }
    let changes = present.map { (old: $0, new: columns.ownBytes($0)) }.filter { $0.old != $0.new }
    for start in stride(from: 0, to: changes.count, by: 1000) {
      let rows = changes[start..<min(start + 1000, changes.count)].map { change -> ServerText in
        let new: ServerText = change.new.map { "\(data: $0)" } ?? "NULL::bytea"
        return "(\(data: change.old), \(new))"
      }
      try session.run([
        """
        UPDATE \(table: HistoryLayout.changeTable) AS c SET changed_columns = v.new \
        FROM (VALUES \(rows.joined(separator: ", "))) AS v(old, new) \
        WHERE c.changed_entity = \(number: Int64(number)) AND c.changed_columns = v.old
        """
      ])
    }
  }
}
