/// The purpose of a column of a hierarchy's table for one entity.
enum ColumnUse: Sendable, Hashable {
  /// The value of an attribute, or of an element of a composite one.
  case attribute(AttributeDescription, property: String, elements: [String])
  case reference(Reference)

  /// A column of a relationship: of a to-one relationship in its entity's table, or of a to-many one without inverse in
  /// its destination's table.
  struct Reference: Sendable, Hashable {
    enum Part: Sendable, Hashable { case key, number, place }

    let entity: String
    let relationship: RelationshipDescription
    let part: Part
  }
}

extension TableMap {
  /// The uses of the columns of a root entity's table: by folded name, then by entity.
  func columnUses(of root: Entity) -> [String: [String: ColumnUse]] {
    var uses: [String: [String: ColumnUse]] = [:]
    for entity in model.hierarchy(of: root) {
      for (column, use) in ownUses(of: entity) { uses[column.foldedIdentifier, default: [:]][entity.name] = use }
    }
    for owner in model.entities {
      for (column, use, destination) in usesOfToManyWithoutInverse(owner) where destination.root === root {
        for entity in model.hierarchy(of: destination) {
          uses[column.foldedIdentifier, default: [:]][entity.name] = use
        }
      }
    }
    return uses
  }

  private func ownUses(of entity: Entity) -> [(String, ColumnUse)] {
    let place = self[entity]
    var uses: [(String, ColumnUse)] = []
    for column in place.columns {
      switch column.role {
      case .attribute(let attribute):
        let path = entity.property(named: column.property)?.elements.first { $0.slot == column.slot }?.path ?? []
        uses.append(
          (column.name, .attribute(attribute, property: column.property, elements: Array(path.dropFirst()))))
      case .toOne, .toOneEntity:
        guard let relationship = entity.relationship(named: column.property) else { continue }
        uses.append(
          (
            column.name,
            .reference(
              .init(
                entity: entity.name, relationship: relationship, part: column.role == .toOne ? .key : .number))
          ))
      }
    }
    for (slot, column) in place.orderColumns.sorted(on: \.key) {
      guard let relationship = entity.properties[slot].relationship else { continue }
      uses.append((column, .reference(.init(entity: entity.name, relationship: relationship, part: .place))))
    }
    return uses
  }

  private func usesOfToManyWithoutInverse(_ owner: Entity) -> [(String, ColumnUse, Entity)] {
    owner.ownProperties.flatMap { property in
      guard let relationship = property.relationship, relationship.isToMany, model.inverse(of: relationship) == nil,
        case .foreignKey(let foreignKey) = self[owner].toMany[property.slot]
      else { return [(String, ColumnUse, Entity)]() }
      let destination = model.destination(of: relationship)
      let parts: [(String?, ColumnUse.Reference.Part)] = [
        (foreignKey.column, .key), (foreignKey.entityColumn, .number), (foreignKey.orderColumn, .place),
      ]
      return parts.compactMap { column, part in
        column.map {
          ($0, .reference(.init(entity: owner.name, relationship: relationship, part: part)), destination)
        }
      }
    }
  }
}
