import Foundation

/// A plan for reading and writing the history of a store: its layout, and the meaning of its columns for each entity.
final class HistoryPlan: Sendable {
  /// The meaning of the history's columns for one entity.
  struct EntityPlan: Sendable {
    let entity: Entity
    let changedColumns: ChangedColumns
    let preserved: [PreservedAttribute]
  }

  let layout: HistoryLayout
  /// By index in ``ManagedObjectModel/entities``.
  let entities: [EntityPlan]
  let changes: PreparedSQL

  init(_ layout: HistoryLayout, in map: TableMap) {
    self.layout = layout
    entities = map.model.entities.map { entity in
      EntityPlan(
        entity: entity, changedColumns: ChangedColumns(of: entity, in: map),
        preserved: PreservedAttribute.all(of: entity, in: map))
    }
    changes = PreparedSQL(.changes(in: layout))
  }
}
