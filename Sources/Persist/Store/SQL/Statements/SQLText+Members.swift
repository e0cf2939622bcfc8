extension SQLText {
  /// The keys of rows with a binary value, and the value's length, which SQLite knows without reading the value.
  ///
  /// - Parameter isExternal: Whether the values begin with a byte that says where they are: 1 for those in the row.
  package static func lengths(of column: String, in table: String, keys: [Int64], isExternal: Bool) -> SQLText {
    let list = "[" + keys.map(String.init).joined(separator: ",") + "]"
    let length: SQLText = isExternal
      ? "CASE WHEN substr(\(name: column), 1, 1) = x'01' THEN length(\(name: column)) - 1 END"
      : "length(\(name: column))"
    return """
      SELECT Z_PK, \(length) FROM \(name: table) \
      WHERE Z_PK IN (SELECT value FROM json_each(\(value: .text(list)))) AND \(name: column) IS NOT NULL
      """
  }
}

/// Reading the members of many owners at once.
extension SQLText {
  /// The members of a to-many relationship whose rows contain the owner's key: owner's key, member's key and entity
  /// number, by owner and in order.
  package static func members(
    of table: String, owner: String, order: String?, owners: ClosedRange<Int64>, limit: Int
  ) -> SQLText {
    let places: SQLText = order.map { "\(name: $0) IS NULL, \(name: $0), " } ?? ""
    return """
      SELECT \(name: owner), Z_PK, Z_ENT FROM \(name: table) \
      WHERE \(name: owner) BETWEEN \(value: .integer(owners.lowerBound)) AND \(value: .integer(owners.upperBound)) \
      ORDER BY \(name: owner), \(places)Z_PK LIMIT \(value: .integer(Int64(limit)))
      """
  }

  /// The equivalent for a many-to-many relationship.
  package static func members(
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

  /// The owners whose members are read.
  package enum Owners {
    /// A JSON array of keys.
    case listed(String)
    /// Parameters for so many keys, followed by one for the maximum number of rows.
    case parameters(count: Int)

    fileprivate var keys: SQLText {
      switch self {
      case .listed(let keys): "SELECT value FROM json_each(\(value: .text(keys)))"
      case .parameters(let count): "\(parameters: count)"
      }
    }

    fileprivate var limit: SQLText {
      switch self {
      case .listed: ""
      case .parameters: " LIMIT \(parameter: ())"
      }
    }
  }

  /// The rows of members that contain an owner's key, each with the owner after its columns, by owner and in order.
  package static func relatedRows(
    _ columns: [String], of table: String, owner: String, order: String?, owners: Owners
  ) -> SQLText {
    let places: SQLText = order.map { "\(name: $0) IS NULL, \(name: $0), " } ?? ""
    return """
      SELECT \(names: columns + [owner]) FROM \(name: table) WHERE \(name: owner) IN (\(owners.keys)) \
      ORDER BY \(name: owner), \(places)Z_PK\(owners.limit)
      """
  }

  /// The equivalent for a many-to-many relationship.
  package static func relatedRows(
    _ columns: [String], of table: String, joinedBy join: TableMap.JoinEnd, owners: Owners
  ) -> SQLText {
    let own: SQLText = "j.\(name: join.ownColumn)"
    let places: SQLText = join.orderColumn.map { "j.\(name: $0) IS NULL, j.\(name: $0), " } ?? ""
    let members = columns.map { "m.\(name: $0)" as SQLText }.joined(separator: ", ")
    return """
      SELECT \(members), \(own) FROM \(name: join.table) AS j \
      JOIN \(name: table) AS m ON m.Z_PK = j.\(name: join.memberColumn) \
      WHERE \(own) IN (\(owners.keys)) ORDER BY \(own), \(places)m.Z_PK\(owners.limit)
      """
  }

  /// The owners of members: the member's key, the owner's and its entity number, if that is stored.
  ///
  /// - Parameter members: A JSON array of keys.
  package static func owners(ofMembersIn place: TableMap.ForeignKey, members: String) -> SQLText {
    """
    SELECT \(names: ["Z_PK", place.column] + [place.entityColumn].compactMap { $0 }) FROM \(name: place.table) \
    WHERE Z_PK IN (SELECT value FROM json_each(\(value: .text(members)))) AND \(name: place.column) IS NOT NULL
    """
  }
}
