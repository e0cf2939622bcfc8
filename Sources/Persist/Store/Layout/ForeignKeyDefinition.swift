/// A foreign key of a server, as a value.
struct ForeignKeyDefinition: Sendable, Hashable {
  /// The effect of the deletion of a row on rows that refer to it.
  enum Effect: Sendable, Hashable {
    /// Their keys become null.
    case clear
    /// They are deleted: rows of join tables.
    case delete
  }

  let table: String
  let column: String
  /// The table of the rows that the column's keys belong to.
  let target: String
  let effect: Effect
}

extension TableMap {
  /// The foreign keys of a server's store: those of join tables, and those whose keys never remain when their rows are
  /// deleted.
  ///
  /// A to-one relationship without inverse keeps the key of a deleted object, and so does one whose inverse has the
  /// delete rule ``DeleteRule/noAction``.
  var foreignKeys: [ForeignKeyDefinition] {
    let present = tables.filter { !absent.contains($0.entity.name) }
    let names = Set(present.map(\.entity.name))
    let references = present.flatMap { table in
      table.entity.properties.filter { $0.declaringEntity == table.entity.name && !$0.isTransient }.compactMap {
        property -> ForeignKeyDefinition? in
        guard let relationship = property.relationship, names.contains(relationship.destination) else { return nil }
        let destination = model.destination(of: relationship)
        if property.isToOne {
          guard let back = relationship.inverse.flatMap({ destination.property(named: $0) })?.relationship,
            back.deleteRule != .noAction,
            let column = table.columns.first(where: { $0.slot == property.slot && $0.role == .toOne })
          else { return nil }
          return ForeignKeyDefinition(
            table: table.table, column: column.name, target: self[destination].table, effect: .clear)
        }
        guard relationship.inverse == nil, relationship.deleteRule != .noAction,
          case .foreignKey(let key)? = table.toMany[property.slot]
        else { return nil }
        return ForeignKeyDefinition(table: key.table, column: key.column, target: table.table, effect: .clear)
      }
    }
    let pairs = joinTables.flatMap { join -> [ForeignKeyDefinition] in
      [join.first, join.second].compactMap { side in
        guard names.contains(side.entity), let entity = model.entitiesByName[side.entity] else { return nil }
        return ForeignKeyDefinition(
          table: join.name, column: side.column, target: self[entity].table, effect: .delete)
      }
    }
    return references + pairs
  }
}
