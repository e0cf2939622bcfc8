extension SQLiteStore {
  /// The members of a to-many relationship for all owners in a range of keys, up to a limit.
  ///
  /// One query instead of one per row, with bounded memory.
  ///
  /// - Parameter limit: The maximum number of members to read. The last owner, which may have more, is then left out.
  func related(
    by relationship: Property, of entity: Entity, owners: ClosedRange<Int64>, limit: Int
  ) throws -> RelatedMembers {
    guard let description = relationship.relationship, let sql = membersSQL(relationship, description, of: entity)
    else { return RelatedMembers(end: owners.upperBound) }
    return try pool.readOnce { connection in
      var found = RelatedMembers(end: owners.upperBound)
      var count = 0
      try connection.query(sql(owners, limit)) { row in
        let owner = row.integer(0)
        count += 1
        if count == limit { found.end = owner == owners.lowerBound ? nil : owner - 1 }
        guard let table = map.table(ofNumber: Int(truncatingIfNeeded: row.integer(2))) else { return }
        found.byOwner[owner, default: []].append(
          ManagedObjectID(
            entityName: table.entity.name, storeIdentifier: identifier, key: .permanent(row.integer(1))))
      }
      return found
    }
  }

  private func membersSQL(
    _ property: Property, _ relationship: RelationshipDescription, of entity: Entity
  ) -> ((ClosedRange<Int64>, Int) -> SQLText)? {
    switch map[entity].toMany[property.slot] {
    case nil: return nil
    case .foreignKey(let place):
      return {
        .members(of: place.table, owner: place.column, order: place.orderColumn, owners: $0, limit: $1)
      }
    case .join(let join):
      let table = map[model.destination(of: relationship)].table
      return { .members(of: table, joinedBy: join, owners: $0, limit: $1) }
    }
  }
}
