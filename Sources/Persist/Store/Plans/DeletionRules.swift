/// The effects of deleting rows of an entity on other rows, as far as the tables determine them.
package struct DeletionRules: Sendable {
  /// One relationship and the location of the rows at its other end.
  package struct End: Sendable {
    package enum Place: Sendable {
      /// A column of the destination's rows contains the owner's key.
      case foreignKey(TableMap.ForeignKey)
      case join(TableMap.JoinEnd)
      /// A column of the owner's rows contains the destination's key.
      case own(column: String)
    }

    let name: String
    package let rule: DeleteRule
    package let destinationTable: String
    package let place: Place
    /// Whether rows at the other end require their owner.
    let isNeeded: Bool
    /// The name of the relationship that leads back, if any.
    let inverseName: String?
  }

  let entity: Entity
  package let table: String
  package let ends: [End]
  let fileColumns: [String]

  /// Whether rows can be deleted without examining others.
  package var areNone: Bool {
    fileColumns.isEmpty
      && ends.allSatisfy { end in
        if case .own = end.place { return end.rule != .cascade && end.rule != .deny }
        return false
      }
  }

  package init(_ entity: Entity, in map: TableMap, fileColumns: [String]) {
    self.entity = entity
    self.fileColumns = fileColumns
    table = map[entity].table
    ends = entity.properties.flatMap { property -> [End] in
      guard let relationship = property.relationship, !relationship.isTransient else { return [] }
      let destination = map.model.destination(of: relationship)
      let inverse = relationship.inverse.flatMap { destination.property(named: $0) }
      func end(_ place: End.Place, _ rule: DeleteRule) -> End {
        End(
          name: property.name, rule: rule, destinationTable: map[destination].table, place: place,
          isNeeded: inverse?.relationship.map { !$0.isToMany && !$0.isOptional } ?? false,
          inverseName: inverse?.name)
      }
      if relationship.isToMany {
        switch map[entity].toMany[property.slot] {
        case .join(let join)?: return [end(.join(join), relationship.deleteRule)]
        case .foreignKey(let key)?: return [end(.foreignKey(key), relationship.deleteRule)]
        case nil: return []
        }
      }
      guard let column = map[entity].column(slot: property.slot)?.name else { return [] }
      let own = end(.own(column: column), relationship.deleteRule)
      // In a one-to-one relationship both sides have a column.
      guard let inverse, inverse.isToOne, let back = map[destination].column(slot: inverse.slot) else { return [own] }
      let number = inverse.entityNumberSlot.flatMap { map[destination].column(slot: $0)?.name }
      let key = TableMap.ForeignKey(
        table: map[destination].table, column: back.name, entityColumn: number, orderColumn: nil)
      return [own, end(.foreignKey(key), relationship.deleteRule == .noAction ? .noAction : .nullify)]
    }
  }
}

extension DeletionRules.End {
  /// The error for rows of an entity that can't be deleted because of others at this end, which remain.
  func denial(of entity: Entity) -> PersistenceError {
    let place = PersistenceError.Place.property(entity.name, name)
    if rule == .deny {
      return PersistenceError(
        .validationDeleteDenied, at: place, "Rows can't be deleted while '\(name)' has related objects.",
        fix: "Delete those first, or with them.")
    }
    return PersistenceError(
      .validationMissingRequired, at: place, "Objects related by '\(name)' require their owners.",
      fix: "Delete those first, or give them other owners.")
  }
}
