/// Reading the members of many owners at once.
extension SQLText {
  /// The members of a to-many relationship that name their owner: the owner's key, the member's key and entity number,
  /// by owner and in order.
  static func members(
    of table: String, owner: String, order: String?, owners: ClosedRange<Int64>, limit: Int
  ) -> SQLText {
    let places: SQLText = order.map { "\(name: $0) IS NULL, \(name: $0), " } ?? ""
    return """
      SELECT \(name: owner), Z_PK, Z_ENT FROM \(name: table) \
      WHERE \(name: owner) BETWEEN \(value: .integer(owners.lowerBound)) AND \(value: .integer(owners.upperBound)) \
      ORDER BY \(name: owner), \(places)Z_PK LIMIT \(value: .integer(Int64(limit)))
      """
  }

  /// The same of a many-to-many relationship.
  static func members(
    of table: String, joinedBy join: TableMap.JoinEnd, owners: ClosedRange<Int64>, limit: Int
  ) -> SQLText {
    let own: SQLText = "j.\(name: join.ownColumn)"
    let places: SQLText = join.orderColumn.map { "j.\(name: $0) IS NULL, j.\(name: $0), " } ?? ""
    return """
      SELECT \(own), m.Z_PK, m.Z_ENT FROM \(name: join.table) AS j \
      JOIN \(name: table) AS m ON m.Z_PK = j.\(name: join.memberColumn) \
      WHERE \(own) BETWEEN \(value: .integer(owners.lowerBound)) AND \(value: .integer(owners.upperBound)) \
      ORDER BY \(own), \(places)m.Z_PK LIMIT \(value: .integer(Int64(limit)))
      """
  }
}
