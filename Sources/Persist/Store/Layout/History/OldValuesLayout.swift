/// The tables in which a history keeps the values that updates replaced and deletions removed, and the data to fill
/// them. Core Data ignores them.
///
/// | table | one row for each | columns |
/// |---|---|---|
/// | `PERSIST_HISTORY_VALUES` | replaced value | transaction, entity number and key of its row, its column, the value |
/// | `PERSIST_HISTORY_MEMBERS` | added or removed member | transaction, relationship, both rows, and 1 or -1 |
///
/// Triggers fill both, whatever statement changes a row: a save, a batch operation, a delete rule or an upsert. In a
/// file, they are temporary triggers of the connection that writes. On a server, they are permanent, and do nothing for
/// other programs. Only the first old value of a column in a transaction is kept. Members are those of relationships
/// without a to-one inverse, whose column would contain all information.
package struct OldValuesLayout: Sendable {
  package static let valueTable = "PERSIST_HISTORY_VALUES"
  package static let memberTable = "PERSIST_HISTORY_MEMBERS"
  /// The column of a row's version, which is kept of deleted rows.
  package static let versionColumn = "Z_OPT"

  /// The table of one hierarchy of entities.
  package struct Table: Sendable {
    package let name: String
    /// The columns whose values are kept. Those of a group belong to one property, and are kept together.
    package let groups: [[String]]
  }

  /// A relationship whose members are kept.
  package struct Relationship: Sendable {
    /// The location of the pairs of owners and members.
    package enum Place: Sendable {
      case join(table: String, owner: String, member: String)
      /// A column in the members' table that contains the owner's key.
      case column(String)
    }

    /// One end of the relationship.
    package struct End: Sendable {
      package let table: String
      /// The entity number of all rows of the table; nil if they have different ones.
      package let number: Int?
      /// The entity numbers that rows of the table may have.
      package let numbers: [Int]
    }

    /// The names of the declaring entity and the relationship, separated by a period.
    package let name: String
    package let place: Place
    package let owner: End
    package let member: End
  }

  package let tables: [Table]
  package let relationships: [Relationship]

  init(tables: [Table], relationships: [Relationship]) {
    (self.tables, self.relationships) = (tables, relationships)
  }

  package init(_ map: TableMap) {
    let present = map.tables.filter { !map.absent.contains($0.entity.name) }
    tables = Dictionary(grouping: present, by: \.table).sorted(on: \.key).map { name, entities in
      var groups: Set<[String]> = []
      for place in entities {
        for (property, columns) in Dictionary(grouping: place.columns, by: \.property)
        where place.entity.property(named: property)?.attribute?.isDerived != true {
          groups.insert(columns.map(\.name))
        }
      }
      return Table(name: name, groups: groups.ordered { $0.lexicographicallyPrecedes($1) })
    }
    func end(_ entity: Entity) -> Relationship.End {
      let table = map[entity].table
      return Relationship.End(
        table: table, number: map.onlyNumber(ofTableOf: entity),
        numbers: present.filter { $0.table == table }.map(\.number))
    }
    let known = Dictionary(uniqueKeysWithValues: present.map { ($0.entity.name, $0.entity) })
    let joins = map.joinTables.compactMap { join -> Relationship? in
      guard let owner = known[join.first.entity], let member = known[join.second.entity] else { return nil }
      return Relationship(
        name: "\(owner.name).\(join.first.relationship)",
        place: .join(table: join.name, owner: join.first.column, member: join.second.column), owner: end(owner),
        member: end(member))
    }
    let columns = present.flatMap { place in
      place.toMany.sorted(on: \.key).compactMap { slot, members -> Relationship? in
        let property = place.entity.properties[slot]
        guard case .foreignKey(let key) = members, property.declaringEntity == place.entity.name,
          let relationship = property.relationship, relationship.inverse == nil,
          let member = known[relationship.destination]
        else { return nil }
        return Relationship(
          name: "\(place.entity.name).\(property.name)", place: .column(key.column), owner: end(place.entity),
          member: end(member))
      }
    }
    relationships = joins + columns
  }
}
