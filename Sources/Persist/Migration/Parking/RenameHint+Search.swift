import Foundation

extension RenameHint {
  /// The pairs that look like renames among what was parked: the new property has the same type and no origin, and
  /// there is only one, or its name is similar.
  static func all(for parked: [MigrationLoss], _ comparison: ModelComparison) -> [RenameHint] {
    parked.compactMap { content in
      guard let old = comparison.old.entitiesByName[content.entity] else { return nil }
      guard let name = content.property else { return entityHint(old, comparison) }
      guard let new = comparison.correspondence.newName(ofEntity: old.name).flatMap({
        comparison.new.entitiesByName[$0]
      }) else { return nil }
      let origins = comparison.correspondence.properties[new.name] ?? Dictionary()
      func isNew(_ property: String) -> Bool {
        origins[property]?.source == nil && old.slot(named: property) == nil
      }
      let candidates: [String]
      if let attribute = old.attribute(named: name) {
        candidates = new.attributes.filter { $0.type == attribute.type && !$0.isTransient && !$0.isDerived }.map(\.name)
      } else if let relationship = old.relationship(named: name) {
        candidates = new.relationships.filter {
          $0.isToMany == relationship.isToMany
            && comparison.correspondence.newName(ofEntity: relationship.destination) == $0.destination
        }.map(\.name)
      } else {
        return nil
      }
      guard let best = best(of: candidates.filter(isNew), for: name) else { return nil }
      return RenameHint(
        entity: new.name, property: name, newName: best, isRelationship: old.relationship(named: name) != nil)
    }
  }

  private static func entityHint(_ old: Entity, _ comparison: ModelComparison) -> RenameHint? {
    let names = Set(old.properties.map(\.name))
    let candidates = comparison.new.entities.filter { entity in
      comparison.correspondence.entities[entity.name] == nil
        && names.intersection(entity.properties.map(\.name)).count * 2 >= max(names.count, 1)
    }.map(\.name)
    return best(of: candidates, for: old.name).map {
      RenameHint(entity: old.name, property: nil, newName: $0, isRelationship: false)
    }
  }

  private static func best(of names: [String], for name: String) -> String? {
    if names.count < 2 { return names.first }
    let sorted = names.map { (name: $0, shared: shared($0, name)) }.ordered { $0.shared > $1.shared }
    return sorted[0].shared > sorted[1].shared && sorted[0].shared > 1 ? sorted[0].name : nil
  }

  /// The number of characters that two names share at their beginnings and ends.
  private static func shared(_ first: String, _ second: String) -> Int {
    let (one, two) = (first.lowercased(), second.lowercased())
    return one.commonPrefix(with: two).count + String(one.reversed()).commonPrefix(with: String(two.reversed())).count
  }
}
