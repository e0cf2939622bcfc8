import Persist

/// Selects the attributes that have a different value in every object, so that all uniqueness constraints hold.
enum UniqueAttributes {
  /// Returns one attribute of each constraint, own or inherited: the one with the most possible values.
  static func names(of entity: Entity) -> Set<String> {
    var names: Set<String> = []
    var current: Entity? = entity
    while let level = current {
      for constraint in level.description.uniquenessConstraints {
        let attributes = constraint.compactMap { entity.attribute(named: $0) }
          .filter { !$0.isTransient && !$0.isDerived }
        if let best = attributes.max(by: { room($0) < room($1) }) { names.insert(best.name) }
      }
      current = level.superentity
    }
    return names
  }

  /// Returns the to-one relationships that alone make objects unique: those of constraints without an attribute.
  static func uniqueRelationships(of entity: Entity) -> Set<String> {
    var names: Set<String> = []
    var current: Entity? = entity
    while let level = current {
      for constraint in level.description.uniquenessConstraints
      where !constraint.contains(where: { entity.attribute(named: $0) != nil }) {
        names.formUnion(constraint.prefix(1))
      }
      current = level.superentity
    }
    return names
  }

  private static func room(_ attribute: AttributeDescription) -> Int {
    switch attribute.type {
    case .uuid: 10
    case .uri: 9
    case .string: attribute.validation.isEmpty ? 8 : 4
    case .int64, .decimal: 7
    case .date, .transformable, .binary: 6
    case .int32: 5
    case .double: 3
    case .int16, .float: 2
    default: 0
    }
  }
}
