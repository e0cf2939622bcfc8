/// Validates the key of a sort descriptor before a request runs.
package enum SortCheck {
  /// - Throws: ``PersistenceError/Code/unknownProperty`` if the key doesn't lead to a stored, ordered value.
  package static func check(_ descriptor: FetchSortDescriptor, of entity: Entity, in model: ManagedObjectModel) throws {
    if let query = descriptor.textQuery {
      _ = try FullTextQuery(query)
      _ = try model.fullTextAttribute(at: [descriptor.key], from: entity)
      return
    }
    // The usual case: an attribute of the entity.
    if descriptor.keyPath == nil, let slot = entity.slot(named: descriptor.key),
      case .attribute(let attribute) = entity.properties[slot].kind, !attribute.isTransient, attribute.type.isOrdered
    {
      return
    }
    guard leadsToOrderedValue(descriptor.expression.keys ?? [], from: entity, in: model) else {
      throw PersistenceError(
        .unknownProperty, at: .property(entity.name, descriptor.key),
        "'\(entity.name)' can't be sorted by '\(descriptor.key)'.",
        fix: "Sort by a stored attribute, possibly across to-one relationships, or by a to-many relationship's @count.")
    }
  }

  private static func leadsToOrderedValue(_ keys: [String], from start: Entity, in model: ManagedObjectModel) -> Bool {
    var entity = start
    for (index, key) in keys.enumerated() {
      guard let property = entity.property(named: key), !property.isTransient else { return false }
      let rest = keys[(index + 1)...]
      switch property.kind {
      case .attribute(let attribute):
        guard attribute.type == .composite else { return rest.isEmpty && attribute.type.isOrdered }
        return property.elements.contains {
          $0.path.dropFirst().elementsEqual(rest) && $0.attribute.type.isOrdered
        }
      case .relationship(let relationship):
        if relationship.isToMany { return rest.elementsEqual(["@count"]) }
        entity = model.destination(of: relationship)
      case .fetchedProperty: return false
      }
    }
    return false
  }
}

extension FetchSortDescriptor {
  /// The sort key as an expression.
  package var expression: FetchExpression { keyPath.map { .keyPath(of: .current, $0) } ?? .key(key) }
}

extension AttributeType {
  /// Whether stores can order values of the type.
  fileprivate var isOrdered: Bool {
    switch self {
    case .composite, .objectID, .undefined: false
    default: true
    }
  }
}
