/// The destination of an old entity's rows.
package struct RowMove: Sendable {
  let source: Entity
  /// `Z_ENT` in the current store.
  let sourceNumber: Int
  let sourceTable: String
  /// The new entity of the rows; nil if they are removed.
  let destination: Entity?
  /// `Z_ENT` after the migration.
  let number: Int?
  let table: String?
}

extension RowMove {
  /// The moves of all entities, in the order of the old model; entities omitted from the store have no rows.
  static func all(from old: TableMap, to new: TableMap, by correspondence: ModelCorrespondence) -> [RowMove] {
    let destinations = Dictionary(
      correspondence.entities.map { ($1, $0) }, uniquingKeysWith: { first, second in min(first, second) })
    return old.tables.filter { !old.absent.contains($0.entity.name) }.map { place in
      let destination = destinations[place.entity.name].flatMap { new.model.entitiesByName[$0] }
      return RowMove(
        source: place.entity, sourceNumber: place.number, sourceTable: place.table, destination: destination,
        number: destination.map { new[$0].number }, table: destination.map { new[$0].table })
    }
  }
}
