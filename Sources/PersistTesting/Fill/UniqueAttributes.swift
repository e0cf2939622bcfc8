import Persist

/// Selects the attributes that have a different value in every object, so that all uniqueness constraints hold.
enum UniqueAttributes {
  /// Returns one attribute of each constraint, own or inherited: the one with the most possible values. It may be an
  /// element of a composite attribute, such as `address.city`.
  static func names(of entity: Entity) -> Set<String> {
    var names: Set<String> = []
    var current: Entity? = entity
    while let level = current {
      for constraint in level.description.uniquenessConstraints {
        let candidates = constraint.flatMap { attributes(named: $0, of: entity) }
          .filter { !$0.attribute.isTransient && !$0.attribute.isDerived }
        if let best = candidates.max(by: { room($0.attribute) < room($1.attribute) }) { names.insert(best.name) }
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
      where !constraint.contains(where: { !attributes(named: $0, of: entity).isEmpty }) {
        names.formUnion(constraint.prefix(1))
      }
      current = level.superentity
    }
    return names
  }

  /// The attribute with a name, or the elements of a composite one at a path or below it, with their paths.
  private static func attributes(
    named name: String, of entity: Entity
  ) -> [(name: String, attribute: AttributeDescription)] {
    let path = name.split(separator: ".").map(String.init)
    guard let property = path.first.flatMap({ entity.property(named: $0) }), let attribute = property.attribute else {
      return []
    }
    guard attribute.type == .composite else { return [(name, attribute)] }
    return property.elements.filter { $0.path.starts(with: path) }
      .map { ($0.path.joined(separator: "."), $0.attribute) }
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
    case .boolean, .composite, .objectID, .undefined: 0
    }
  }
}
