/// The purpose of a column of a hierarchy's table for one entity.
enum ColumnUse: Sendable, Equatable {
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

/// The uses of the columns of a layout's entity tables.
struct ColumnUses {
  private let map: TableMap
  /// The columns of to-many relationships without inverse, by the root of the hierarchy in whose table they are.
  private let columnsOfOwners: [ObjectIdentifier: [OwnersColumn]]

  /// A column in which the rows of an entity and its subentities contain an owner.
  private struct OwnersColumn {
    let name: String
    let use: ColumnUse
    let destination: Entity
  }

  init(_ map: TableMap) {
    self.map = map
    columnsOfOwners = Dictionary(
      grouping: map.model.entities.flatMap { Self.columns(ofToManyWithoutInverse: $0, in: map) },
      by: { ObjectIdentifier($0.destination.root) })
  }

  /// The uses of the columns of a root entity's table: by folded name, then by entity.
  subscript(root: Entity) -> [String: [String: ColumnUse]] {
    var uses: [String: [String: ColumnUse]] = Dictionary()
    for entity in map.model.hierarchy(of: root) {
      for (column, use) in ownUses(of: entity) {
        uses[column.foldedIdentifier, default: Dictionary()][entity.name] = use
      }
    }
    for column in columnsOfOwners[ObjectIdentifier(root)] ?? [] {
      for entity in map.model.hierarchy(of: column.destination) {
        uses[column.name.foldedIdentifier, default: Dictionary()][entity.name] = column.use
      }
    }
    return uses
  }

  private func ownUses(of entity: Entity) -> [(String, ColumnUse)] {
    let table = map[entity]
    var uses: [(String, ColumnUse)] = []
    for column in table.columns {
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
    for (slot, column) in table.orderColumns.sorted(on: \.key) {
      guard let relationship = entity.properties[slot].relationship else { continue }
      uses.append((column, .reference(.init(entity: entity.name, relationship: relationship, part: .place))))
    }
    return uses
  }

  private static func columns(ofToManyWithoutInverse owner: Entity, in map: TableMap) -> [OwnersColumn] {
    owner.ownProperties.flatMap { property in
      guard let relationship = property.relationship, relationship.isToMany,
        map.model.inverse(of: relationship) == nil,
        case .foreignKey(let foreignKey) = map[owner].toMany[property.slot]
      else { return [OwnersColumn]() }
      let destination = map.model.destination(of: relationship)
      let parts: [(String?, ColumnUse.Reference.Part)] = [
        (foreignKey.column, .key), (foreignKey.entityColumn, .number), (foreignKey.orderColumn, .place),
      ]
      return parts.compactMap { name, part in
        name.map {
          OwnersColumn(
            name: $0, use: .reference(.init(entity: owner.name, relationship: relationship, part: part)),
            destination: destination)
        }
      }
    }
  }
}
