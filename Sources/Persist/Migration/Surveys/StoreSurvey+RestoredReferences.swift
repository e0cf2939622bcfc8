import Foundation

extension StoreSurvey {
  /// Checks that no required relationship lacks a value after its parked pairs were restored.
  func verifyRestoredReferences(in map: TableMap, _ connection: any StoreInspector, _ url: URL) throws {
    for subject in work.parkedReferences {
      guard let entity = map.model.entitiesByName[subject.entity],
        let column = map[entity].columns.first(where: { $0.property == subject.property && $0.role == .toOne })
      else { continue }
      let rows = RowCondition(entityNumbers: [map[entity].number], missing: [column.name])
      let count = try connection.count(.rows(map[entity].table, rows))
      guard count > 0 else { continue }
      throw PersistenceError(
        .migrationFailed,
        at: PersistenceError.Place(entity: subject.entity, property: subject.property, store: url),
        "\(Measure.count(count, "object")) would have had no value for a required relationship, so the migration was "
          + "rolled back: their parked pairs contradict the store's pairs.",
        fix: "Remove the pairs of the objects at the other end that were made since, then migrate again.")
    }
  }
}
