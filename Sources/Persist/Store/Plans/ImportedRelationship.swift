/// A to-many relationship of an import.
package struct ImportedRelationship {
  /// The relationship's number in the temporary table.
  package let number: Int
  /// The declaring entity.
  let entity: String
  package let name: String
  package let destination: String
  /// The name of the inverse, if there is one.
  package let inverse: String?
  package let place: TableMap.ToMany
  package let ownerTable: String

  /// Whether a member belongs to one owner only.
  package var membersHaveOneOwner: Bool { if case .foreignKey = place { true } else { false } }

  /// The table, and its columns with the owner's and the member's key.
  package var columns: (table: String, owner: String, member: String) {
    switch place {
    case .join(let join): (join.table, join.ownColumn, join.memberColumn)
    case .foreignKey(let place): (place.table, place.column, "Z_PK")
    }
  }

  /// Nil if the relationship isn't ordered.
  package var orderColumns: OrderColumns? {
    let order =
      switch place {
      case .join(let join): join.orderColumn
      case .foreignKey(let place): place.orderColumn
      }
    return order.map { OrderColumns(table: columns.table, owner: columns.owner, member: columns.member, order: $0) }
  }

  package static func all(of map: TableMap) -> [ImportedRelationship] {
    map.tables.flatMap { table in
      own(table.entity).compactMap { number, property in
        guard let relationship = property.relationship, let place = table.toMany[property.slot] else { return nil }
        return ImportedRelationship(
          number: number, entity: table.entity.name, name: property.name, destination: relationship.destination,
          inverse: relationship.inverse, place: place, ownerTable: table.table)
      }
    }
  }

  /// The numbers of an entity's to-many relationships by slot, including inherited ones.
  package static func numbers(of entity: Entity, among map: TableMap) -> [Int: Int] {
    var numbers: [Int: Int] = Dictionary()
    var ancestor: Entity? = entity
    while let current = ancestor {
      for (number, property) in own(current) where map[current].toMany[property.slot] != nil {
        numbers[property.slot] = number
      }
      ancestor = current.superentity
    }
    return numbers
  }

  /// The to-many relationships that an entity declares, with their numbers: unique in the model.
  private static func own(_ entity: Entity) -> [(number: Int, property: Property)] {
    entity.ownProperties.filter { $0.isToMany && !$0.isTransient }
      .map { (entity.number * 1_000_000 + $0.slot, $0) }
  }
}
