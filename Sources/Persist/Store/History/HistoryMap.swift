import Synchronization

/// The meaning of a store's history: its layout, its settings, and the columns for each entity.
package final class HistoryMap: Sendable {
  /// The meaning of the history's columns for one entity.
  package struct EntityColumns: Sendable {
    let entity: Entity
    /// The entity's number in the store.
    package let number: Int
    package let table: String
    package let changedColumns: RecordedColumns
    /// The attributes whose values are kept, as many as the history has columns for.
    package let preserved: [PreservedAttribute]
  }

  package let layout: HistoryLayout
  let settings: HistorySettings
  /// By index in ``ManagedObjectModel/entities``.
  package let entities: Lazy<[EntityColumns]>
  /// The meaning of old values; nil if they aren't kept.
  package let oldValues: OldValuesMap?
  /// The tables and columns of the model.
  let tables: TableMap
  /// The form of the history in a store that serves two models; nil for others.
  package let expansion: HistoryExpansion?
  /// Whether the store records the meaning of the columns; a history created by Core Data doesn't until the first save.
  private let isDescribed: Atomic<Bool>

  /// Whether changes are recorded.
  package var isTracking: Bool { !settings.isOff }

  init(
    _ layout: HistoryLayout, settings: HistorySettings, in tables: TableMap, expansion: HistoryExpansion? = nil
  ) {
    self.layout = layout
    self.settings = settings
    self.tables = tables
    self.expansion = expansion
    oldValues = settings.oldValuesAfter.map { OldValuesMap(after: $0, in: tables, expansion) }
    isDescribed = Atomic(settings.description != nil)
    entities = Lazy {
      tables.model.entities.map { entity in
        EntityColumns(
          entity: entity, number: tables.numbers[entity], table: tables[entity].table,
          changedColumns: expansion?.recordedColumns(of: entity)
            ?? RecordedColumns(ChangedColumns(of: entity, in: tables)),
          preserved: Array(
            (expansion?.preserved(of: entity) ?? PreservedAttribute.all(of: entity, in: tables))
              .prefix(layout.tombstones.count)))
      }
    }
  }

  /// Whether the store must still record the meaning of the columns; true for the first caller only.
  package func beginDescribing() -> Bool { !isDescribed.exchange(true, ordering: .relaxed) }

  /// The history that a catalog shows; nil if the store has none.
  package convenience init?(
    _ catalog: StoreCatalog, in tables: TableMap, _ expansion: HistoryExpansion? = nil
  ) {
    guard let layout = HistoryLayout(catalog.schema) else { return nil }
    self.init(layout, settings: catalog.metadata.history, in: tables, expansion: expansion)
  }

  /// The history of a store that is being opened, after creating anything that is missing.
  ///
  /// A store with a history continues it, whoever opens the store. For a store without one, or whose history was
  /// switched off, it is set up only if the options request it.
  ///
  /// - Parameters:
  ///   - expansion: The form of the history in a store that serves two models, which is complete; nil for others.
  ///   - setUp: Creates or completes the history in a write transaction.
  package static func opening(
    _ catalog: StoreCatalog, in tables: TableMap, options: StoreOptions, isReadOnly: Bool,
    expansion: HistoryExpansion? = nil, setUp: () throws -> HistoryMap
  ) throws -> HistoryMap? {
    let settings = catalog.metadata.history
    let layout = HistoryLayout(catalog.schema)
    let isWanted = options.requestsHistory || (layout != nil && !settings.isOff)
    let hasColumns = layout.map { $0.tombstones.count >= HistoryLayout.tombstoneCount(of: tables) } ?? false
    let isCurrent = settings.description.map { $0.digest == HistoryDescription(tables).digest } ?? true
    let isContent = options.historyKeeps.map { ($0 == .oldValues) == (settings.oldValuesAfter != nil) } ?? true
    let isComplete = expansion != nil || hasColumns && isCurrent
    guard isWanted, settings.isOff || !isComplete || !isContent, !isReadOnly else {
      return layout.map { HistoryMap($0, settings: settings, in: tables, expansion: expansion) }
    }
    return try setUp()
  }
}

extension HistoryConnection {
  /// Records the meaning of the history's columns in the store; the caller holds the transaction.
  package func describe(_ history: HistoryMap) throws {
    var metadata = try storeMetadata()
    metadata.history.description = HistoryDescription(history.tables)
    try replace(metadata)
  }
}
