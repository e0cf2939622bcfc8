import Persist
import PersistPostgreSQL

/// Hierarchies whose entities differ.
///
/// A new entity below one that remains has its objects in a table of both models. Programs with the old model don't see
/// them, because each statement of a store on a server names the entity numbers that its model knows; a to-one
/// relationship that leads to such an object has no object in the old model. In the same way, programs with the new
/// model don't see the objects of a removed entity.
extension ExpansionPlanner {
  /// Whether an entity has the same ancestors in both models, apart from those that one of them lacks.
  func keepsPlace(_ name: String?) -> Bool {
    guard let entity = name.flatMap({ forward.planned.model.entitiesByName[$0] }), let old = forward.source(of: entity)
    else { return false }
    func ancestors(_ entity: Entity) -> [Entity] { Array(sequence(first: entity) { $0.superentity }.dropFirst()) }
    let former = ancestors(old).map(\.name).filter { forward.correspondence.newName(ofEntity: $0) != nil }
    return ancestors(entity).compactMap { forward.source(of: $0)?.name } == former
  }

  /// Finds the entities whose objects only one of the models knows in a table that both have, and refuses those that
  /// move to another table.
  mutating func examineEntities() {
    hidden.second = hiddenNumbers(forward)
    hidden.first = hiddenNumbers(backward)
    expansion.unknownToFirst = hidden.second.sorted()
    for entity in forward.planned.model.entities {
      guard let old = forward.source(of: entity) else { continue }
      let tables = (forward.map[old].table, forward.planned[entity].table)
      if tables.0.foldedIdentifier == tables.1.foldedIdentifier { continue }
      if forward.source(of: entity.root)?.name == old.root.name || isSameHierarchy(old.root, entity.root) {
        collide(.table(rule: tables.1, actual: tables.0))
      } else {
        refuse(entity.name, nil, because: Self.movedRows)
      }
    }
    planReferences()
  }

  /// Whether all entities of an old hierarchy that remain are those of a new hierarchy that existed: only the root is
  /// another, which is new or was removed, so that the rows can remain in their table.
  private func isSameHierarchy(_ old: Entity, _ new: Entity) -> Bool {
    let news = forward.planned.model.hierarchy(of: new)
    let olds = Set(forward.map.model.hierarchy(of: old).map(\.name))
    let sources = Set(news.compactMap { forward.source(of: $0)?.name })
    return sources == olds.filter { forward.correspondence.newName(ofEntity: $0) != nil }
  }

  /// The entity numbers of a destination, in tables that the source has too, of objects that it doesn't know.
  private func hiddenNumbers(_ survey: OnlineSurvey) -> Set<Int> {
    let tables = Set(survey.map.tables.map(\.table.foldedIdentifier))
    return Set(
      survey.planned.model.entities.filter { entity in
        !entity.isAbstract && survey.source(of: entity) == nil
          && tables.contains(survey.planned[entity].table.foldedIdentifier)
      }.map { survey.planned[$0].number })
  }

  /// Whether rows are of entities that only one of the models has, or of abstract ones.
  func areHidden(_ rows: RowCondition, _ map: TableMap) -> Bool {
    rows.entityNumbers.map { areHidden($0, map) } == true
  }

  func areHidden(_ numbers: [Int], _ map: TableMap) -> Bool {
    numbers.allSatisfy { number in
      hidden.first.contains(number) || hidden.second.contains(number)
        || map.table(ofNumber: number)?.entity.isAbstract == true
    }
  }

  // MARK: References

  /// Gives to-one relationships that may lead to such objects a second key.
  private mutating func planReferences() {
    guard !hidden.first.isEmpty || !hidden.second.isEmpty else { return }
    for place in forward.planned.tables {
      for column in place.columns where column.role == .toOne {
        guard let source = forward.source(of: place.entity),
          let name = forward.correspondence.origin(of: column.property, in: place.entity.name)?.source,
          let old = forward.map[source].columns.first(where: { $0.property == name && $0.role == .toOne }),
          let before = source.relationship(named: name),
          let after = place.entity.relationship(named: column.property)
        else { continue }
        let unknown = (
          numbers(hidden.second, below: forward.planned.model.destination(of: after), forward.planned),
          numbers(hidden.first, below: forward.map.model.destination(of: before), forward.map)
        )
        guard !unknown.0.isEmpty || !unknown.1.isEmpty else { continue }
        func number(_ place: TableMap.EntityTable, _ key: TableMap.Column) -> String? {
          place.columns.first { $0.property == key.property && $0.role == .toOneEntity }?.name
        }
        let (first, second) = (number(forward.map[source], old), number(place, column))
        let taken = Set((forward.map.layout[place.table] ?? []).map(\.name.foldedIdentifier))
        let own = [column.name, second].compactMap { $0 }.filter { taken.contains($0.foldedIdentifier) }
        guard own.isEmpty else {
          for name in own { collide(.column(table: place.table, rule: name)) }
          continue
        }
        let reference = OnlineExpansion.Reference(
          table: place.table, first: .init(key: old.name, number: first),
          second: .init(key: column.name, number: second), unknownToFirst: unknown.0, unknownToSecond: unknown.1,
          number: forward.map[forward.map.model.destination(of: before)].number)
        if !expansion.references.contains(reference) { expansion.references.append(reference) }
      }
    }
  }

  private func numbers(_ hidden: Set<Int>, below entity: Entity, _ map: TableMap) -> [Int] {
    map.model.hierarchy(of: entity).map { map[$0].number }.filter(hidden.contains).sorted()
  }

  /// Whether a column is one of two keys, or of their entity numbers.
  func isReference(_ column: String, in table: String) -> Bool {
    expansion.references.contains { reference in
      reference.table == table && (reference.first.columns + reference.second.columns).contains(column)
    }
  }
}
