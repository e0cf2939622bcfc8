extension SQLiteStore {
  func relatedRows(by property: Property, of entity: Entity, owners: [Int64]) throws -> RelatedRows {
    guard let relationship = property.relationship, relationship.isToMany else {
      throw PersistenceError(
        .invalidRequest, at: .property(entity.name, property.name), "'\(property.name)' isn't a to-many relationship.",
        fix: "Read a to-one relationship from its own row.")
    }
    let destination = model.destination(of: relationship)
    let plan = plans.deep[destination.index]
    guard let place = map[entity].toMany[property.slot], !map.absent.contains(entity.name) else {
      return RelatedRows(batch: RowBatch(), owners: [])
    }
    if let few = fewRelated(by: property, to: plan, of: entity, ownerCount: owners.count) {
      return try pool.readOnce { try few.rows(of: owners, limit: nil, map: map, on: $0) }
    }
    let keys = "[" + owners.map(String.init).joined(separator: ",") + "]"
    let sql = relatedRows(plan, at: place, owners: .listed(keys))
    return try pool.readOnce { connection in
      var reader = RowReader(plan, map: map, expectedRows: nil)
      try connection.withStatement(sql) { statement in
        try reader.readRows(statement, ownerColumn: Int32(plan.columns.count))
      }
      return RelatedRows(batch: reader.batch, owners: reader.owners)
    }
  }

  func relatedRows(
    by property: Property, of entity: Entity, owners: [Int64], limit: Int
  ) throws -> (rows: FirstRelatedRows, moment: ReadMoment?)? {
    guard let relationship = property.relationship, relationship.isToMany, !map.absent.contains(entity.name),
      case let plan = plans.deep[model.destination(of: relationship).index],
      let few = fewRelated(by: property, to: plan, of: entity, ownerCount: owners.count)
    else { return nil }
    let (rows, moment) = try pool.readingWithMoment {
      try pool.readOnce { connection in
        let rows = try few.rows(of: owners, limit: limit, map: map, on: connection)
        return FirstRelatedRows(rows: rows, areAll: rows.batch.readCount < limit)
      }
    }
    return (rows, moment)
  }

  /// A prepared statement for the members of few owners. Each relationship has one for a single owner, and another for
  /// 16 of them. Parameters without an owner are null, which matches no row.
  private struct FewRelated {
    let sql: PreparedSQL
    let plan: RowPlan
    let ownerCount: Int

    func rows(of owners: [Int64], limit: Int?, map: TableMap, on connection: SQLiteConnection) throws -> RelatedRows {
      var reader = RowReader(plan, map: map, expectedRows: min(limit ?? .max, 16 * owners.count))
      let statement = try connection.statement(sql)
      for (index, owner) in owners.enumerated() { statement.bind(owner, at: Int32(index + 1)) }
      // A negative limit means no limit.
      statement.bind(Int64(limit ?? -1), at: Int32(ownerCount + 1))
      try reader.readRows(statement, ownerColumn: Int32(plan.columns.count))
      return RelatedRows(batch: reader.batch, owners: reader.owners)
    }
  }

  /// Nil for too many owners, and for a relationship that the store doesn't have.
  private func fewRelated(
    by property: Property, to plan: RowPlan, of entity: Entity, ownerCount: Int
  ) -> FewRelated? {
    let count = ownerCount == 1 ? 1 : FirstRelatedRows.maximumOwnerCount
    guard ownerCount <= count else { return nil }
    let key = RelatedStatements.Key(entity: entity.index, slot: property.slot, ownerCount: count)
    return prepared(key) {
      map[entity].toMany[property.slot].map { relatedRows(plan, at: $0, owners: .parameters(count: count)) }
    }.map { FewRelated(sql: $0, plan: plan, ownerCount: count) }
  }

  private func relatedRows(_ plan: RowPlan, at place: TableMap.ToMany, owners: SQLText.Owners) -> SQLText {
    switch place {
    case .foreignKey(let key):
      .relatedRows(plan.columns, of: key.table, owner: key.column, order: key.orderColumn, owners: owners)
    case .join(let join): .relatedRows(plan.columns, of: map[plan.entity].table, joinedBy: join, owners: owners)
    }
  }

  /// Returns the statement of a relationship, which is made when it is first needed; nil if there is none.
  func prepared(_ key: RelatedStatements.Key, _ sql: () throws -> SQLText?) rethrows -> PreparedSQL? {
    try related.value.statement(key, sql)
  }

  func owners(by property: Property, of entity: Entity, members: [Int64]) throws -> [Int64: ManagedObjectID] {
    guard case .foreignKey(let place)? = map[entity].toMany[property.slot], !map.absent.contains(entity.name) else {
      return Dictionary()
    }
    let keys = "[" + members.map(String.init).joined(separator: ",") + "]"
    return try pool.readOnce { connection in
      var owners: [Int64: ManagedObjectID] = Dictionary()
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
