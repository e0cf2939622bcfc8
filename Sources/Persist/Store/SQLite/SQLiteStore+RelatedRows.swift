extension SQLiteStore {
  func relatedRows(by property: Property, of entity: Entity, owners: [Int64]) throws -> RelatedRows {
    guard let relationship = property.relationship, relationship.isToMany else {
      throw PersistenceError(
        .invalidRequest, at: .property(entity.name, property.name), "'\(property.name)' isn't a to-many relationship.",
        fix: "Read a to-one relationship from its own row.")
    }
    let destination = model.destination(of: relationship)
    let plan = deepPlans[destination.number - 1].value
    guard let place = map[entity].toMany[property.slot], !map.absent.contains(entity.name) else {
      return RelatedRows(batch: RowBatch(), owners: [])
    }
    let keys = "[" + owners.map(String.init).joined(separator: ",") + "]"
    let sql: SQLText =
      switch place {
      case .foreignKey(let key):
        .relatedRows(plan.columns, of: key.table, owner: key.column, order: key.orderColumn, owners: keys)
      case .join(let join): .relatedRows(plan.columns, of: map[destination].table, joinedBy: join, owners: keys)
      }
    return try pool.readOnce { connection in
      var reader = RowReader(plan, map: map, expectedRows: nil)
      try connection.withStatement(sql) { statement in
        try reader.readRows(statement, ownerColumn: Int32(plan.columns.count))
      }
      return RelatedRows(batch: reader.batch, owners: reader.owners)
    }
  }

  func owners(by property: Property, of entity: Entity, members: [Int64]) throws -> [Int64: ManagedObjectID] {
    guard case .foreignKey(let place)? = map[entity].toMany[property.slot], !map.absent.contains(entity.name) else {
      return [:]
    }
    let keys = "[" + members.map(String.init).joined(separator: ",") + "]"
    return try pool.readOnce { connection in
      var owners: [Int64: ManagedObjectID] = [:]
      try connection.withStatement(.owners(ofMembersIn: place, members: keys)) { statement in
        while try statement.step() {
          let owner = place.entityColumn == nil ? map[entity] : map.table(ofNumber: Int(clamping: statement.integer(2)))
          guard let name = owner?.entity.name else { continue }
          owners[statement.integer(0)] = ManagedObjectID(
            entityName: name, storeIdentifier: identifier, key: .permanent(statement.integer(1)))
        }
      }
      return owners
    }
  }
}
