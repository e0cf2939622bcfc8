import Foundation
import Synchronization

/// A plan for reading and writing the history of a store: its layout, its statements, and the meaning of its columns
/// for each entity.
final class HistoryPlan: Sendable {
  /// The meaning of the history's columns for one entity.
  struct EntityPlan: Sendable {
    let entity: Entity
    /// The entity's number in the store.
    let number: Int
    let table: String
    let changedColumns: ChangedColumns
    /// The attributes whose values are kept, as many as the history has columns for.
    let preserved: [PreservedAttribute]
    /// Records a deletion with these values; nil without such attributes.
    let deletion: PreparedSQL?
  }

  let layout: HistoryLayout
  let settings: HistorySettings
  /// By index in ``ManagedObjectModel/entities``.
  let entities: Lazy<[EntityPlan]>
  let changes: PreparedSQL
  let lastNumbers = PreparedSQL(.lastHistoryNumbers)
  let setLastNumbers = PreparedSQL(.setLastHistoryNumbers)
  /// Statements that record several changes at once, those for the most first.
  let insertChanges: [(count: Int, sql: PreparedSQL)]
  let insertTransaction: PreparedSQL
  let findText = PreparedSQL(.historyText)
  /// The plan for old values; nil if they aren't kept.
  let oldValues: OldValuesPlan?
  let writtenTexts: [(text: HistoryLayout.Text, column: String, isReference: Bool)]

  /// Whether the store records the meaning of the columns; a history created by Core Data doesn't until the first save.
  let isDescribed: Atomic<Bool>
  private let map: TableMap

  /// Records the meaning of the columns in the store; the caller holds the transaction.
  func describe(_ connection: SQLiteConnection) throws {
    var metadata = try StoreMetadata(connection)
    metadata.history.description = HistoryDescription(map)
    try metadata.write(to: connection)
  }

  /// Whether changes are recorded.
  var isTracking: Bool { !settings.isOff }

  init(_ layout: HistoryLayout, _ settings: HistorySettings, in map: TableMap) {
    self.layout = layout
    self.settings = settings
    self.map = map
    oldValues = settings.oldValuesAfter.map { OldValuesPlan(after: $0, in: map) }
    isDescribed = Atomic(settings.description != nil)
    entities = Lazy {
      map.model.entities.map { entity in
        let preserved = Array(PreservedAttribute.all(of: entity, in: map).prefix(layout.tombstones.count))
        let table = map[entity].table
        return EntityPlan(
          entity: entity, number: map.numbers[entity], table: table,
          changedColumns: ChangedColumns(of: entity, in: map), preserved: preserved,
          deletion: preserved.isEmpty
            ? nil : PreparedSQL(.insertDeletion(of: preserved.map(\.column), in: table, layout)))
      }
    }
    changes = PreparedSQL(.changes(in: layout))
    insertChanges = [32, 8, 1].map { count in (count, PreparedSQL(.insertChanges(count, in: layout))) }
    insertTransaction = PreparedSQL(.insertTransaction(in: layout))
    writtenTexts = layout.writtenTexts
  }
}
