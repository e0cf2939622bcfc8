import Foundation
import Persist

/// The members of to-many relationships.
extension PostgreSQLStore {
  func related(by relationship: Property, of entity: Entity, key: Int64) throws -> [ManagedObjectID] {
    let destination = try destination(of: relationship, entity)
    guard let place = map[entity].toMany[relationship.slot] else { return [] }
    let sql = pool.texts.statement(.members(entity: entity.number, slot: relationship.slot), binding: [.integer(key)]) {
      """
      SELECT m.id, m.entity FROM \(members(place, of: destination)) \
      WHERE \(owner(place)) = \(integer: key) ORDER BY \(order(place))m.id
      """
    }
    return try pool.read { session in
      let result = try session.query(sql, isReused: true)
      return (0..<result.rowCount).compactMap { member(in: result, row: $0, column: 0) }
    }
  }

  func related(
    by relationship: Property, of entity: Entity, owners: ClosedRange<Int64>, limit: Int
  ) throws -> RelatedMembers {
    let destination = try destination(of: relationship, entity)
    guard let place = map[entity].toMany[relationship.slot] else { return RelatedMembers(end: owners.upperBound) }
    let owner = owner(place)
    let sql: ServerText = """
      SELECT \(owner), m.id, m.entity FROM \(members(place, of: destination)) \
      WHERE \(owner) BETWEEN \(integer: owners.lowerBound) AND \(integer: owners.upperBound) \
      ORDER BY \(owner), \(order(place))m.id LIMIT \(integer: Int64(limit))
      """
    let result = try pool.read { try $0.query(sql) }
    var found = RelatedMembers(end: owners.upperBound)
    for row in 0..<result.rowCount {
      let owner = result.integer(row, 0)
      if row + 1 == limit { found.end = owner == owners.lowerBound ? nil : owner - 1 }
      if let id = member(in: result, row: row, column: 1) { found.byOwner[owner, default: []].append(id) }
    }
    return found
  }

  func relatedRows(by property: Property, of entity: Entity, owners: [Int64]) throws -> RelatedRows {
    try relatedRows(by: property, of: entity, owners: owners, limit: nil)
  }

  func relatedRows(
    by property: Property, of entity: Entity, owners: [Int64], limit: Int
  ) throws -> (rows: FirstRelatedRows, moment: ReadMoment?)? {
    let (rows, moment) = try readingWithMoment {
      try relatedRows(by: property, of: entity, owners: owners, limit: .some(limit))
    }
    return (FirstRelatedRows(rows: rows, areAll: rows.batch.readCount < limit), moment)
  }

  private func relatedRows(
    by property: Property, of entity: Entity, owners: [Int64], limit: Int?
  ) throws -> RelatedRows {
    let destination = try destination(of: property, entity)
    let plan = plans.deep[destination.index]
    guard let place = map[entity].toMany[property.slot] else { return RelatedRows(batch: RowBatch(), owners: []) }
    let text = ServerTexts.Key.memberRows(entity: entity.number, slot: property.slot, isLimited: limit != nil)
    let parameters = [.integers(owners)] + (limit.map { [ServerParameter.integer(Int64($0))] } ?? [])
    let sql = pool.texts.statement(text, binding: parameters) {
      let owner = owner(place)
      let window: ServerText = limit.map { " LIMIT \(integer: Int64($0))" } ?? ""
      return """
        SELECT \(columnList(plan, of: Self.memberRow)), \(owner) \
        FROM \(members(place, of: destination, alias: "r\(number: Int64(Self.memberRow.number))")) \
        WHERE \(owner) = ANY(\(integers: owners)) ORDER BY \(owner), \(order(place))r1.id\(window)
        """
    }
    return try pool.read { session in
      let result = try session.query(sql, isReused: true)
      var reader = ServerRowReader(plan, map: map, expectedRows: result.rowCount)
      try reader.readRows(result, ownerColumn: plan.columns.count)
      return RelatedRows(batch: reader.batch, owners: reader.owners)
    }
  }

  func owners(by property: Property, of entity: Entity, members: [Int64]) throws -> [Int64: ManagedObjectID] {
    guard case .foreignKey(let place)? = map[entity].toMany[property.slot] else { return [:] }
    let completed = ServerReadColumn.entityNumber(key: place.column, target: map[entity].table)
    let number = place.entityColumn.map { completed.value(of: $0, "m") } ?? "\(number: Int64(map[entity].number))"
    let sql: ServerText = """
      SELECT id, \(name: place.column), (\(number))::bigint FROM \(table: place.table) AS m \
      WHERE id = ANY(\(integers: members)) AND \(name: place.column) IS NOT NULL
      """
    let result = try pool.read { try $0.query(sql) }
    var owners: [Int64: ManagedObjectID] = [:]
    for row in 0..<result.rowCount {
      guard let name = map.table(ofNumber: Int(clamping: result.integer(row, 2)))?.entity.name else { continue }
      owners[result.integer(row, 0)] = ManagedObjectID(
        entityName: name, storeIdentifier: identifier, key: .permanent(result.integer(row, 1)))
    }
    return owners
  }

  // MARK: Parts of statements

  private static let memberRow = SQLRow(number: 1)

  private func destination(of property: Property, _ entity: Entity) throws -> Entity {
    if let relationship = property.relationship, relationship.isToMany {
      return model.destination(of: relationship)
    }
    throw PersistenceError(
      .invalidRequest, at: .property(entity.name, property.name), "'\(property.name)' isn't a to-many relationship.",
      fix: "Read a to-one relationship from its own row.")
  }

  /// The members' table under an alias, and the pairs as `j`, if the relationship has a table of its own.
  private func members(_ place: TableMap.ToMany, of destination: Entity, alias: ServerText = "m") -> ServerText {
    switch place {
    case .foreignKey(let key): "\(table: key.table) AS \(alias)"
    case .join(let join):
      """
      \(table: join.table) AS j JOIN \(table: map[destination].table) AS \(alias) \
      ON \(alias).id = j.\(name: join.memberColumn)
      """
    }
  }

  private func owner(_ place: TableMap.ToMany) -> ServerText {
    switch place {
    case .foreignKey(let key): "\(name: key.column)"
    case .join(let join): "j.\(name: join.ownColumn)"
    }
  }

  /// The members' positions, followed by a comma; empty if the relationship isn't ordered.
  private func order(_ place: TableMap.ToMany) -> ServerText {
    switch place {
    case .foreignKey(let key): key.orderColumn.map { "\(name: $0) NULLS LAST, " } ?? ""
    case .join(let join): join.orderColumn.map { "j.\(name: $0) NULLS LAST, " } ?? ""
    }
  }

  /// The member in a row: its key in a column, and its entity number in the next.
  private func member(in result: any ServerResult, row: Int, column: Int) -> ManagedObjectID? {
    map.table(ofNumber: Int(truncatingIfNeeded: result.integer(row, column + 1))).map { table in
      ManagedObjectID(
        entityName: table.entity.name, storeIdentifier: identifier, key: .permanent(result.integer(row, column)))
    }
  }
}
