/// Reading rows.
extension SQLText {
  /// Which rows of a table that a hierarchy of entities shares, and in which order.
  struct RowSelection: Sendable {
    /// One level of an order.
    struct Term: Sendable, Hashable {
      /// Of the rows, which are ``root`` in it.
      let value: SQLTerm
      let isAscending: Bool
      /// Decimals beside numbers may be texts in blobs, which SQLite would sort behind all numbers.
      let isDecimal: Bool
      let comparison: FetchSortDescriptor.Comparison
    }

    let table: String
    /// Entity numbers.
    let entities: [Int]
    /// Whether these are all entities of the table: the index on their numbers would then only be in the way.
    let isWholeTable: Bool
    /// A JSON array of keys; nil for all.
    var keys: String?
    var afterKey: Int64?
    /// A condition on the rows, which are ``root`` in it; nil for all.
    var condition: SQLTerm?
    /// The key decides between rows that are equal by all terms.
    var order: [Term] = []
    var limit: Int?
    var offset = 0

    static let root = SQLRow(number: 0)

    /// From `FROM` to before `ORDER BY`.
    var clauses: SQLText { "FROM \(name: table) AS \(row: Self.root) WHERE \(conditions)" }

    var conditions: SQLText {
      var sql: SQLText = isWholeTable ? "+Z_ENT" : "Z_ENT"
      sql += " IN (\(entities.map { "\(number: Int64($0))" as SQLText }.joined(separator: ", ")))"
      if let keys { sql += " AND Z_PK IN (SELECT value FROM json_each(\(value: .text(keys))))" }
      if let afterKey { sql += " AND Z_PK > \(value: .integer(afterKey))" }
      if let condition { sql += " AND \(SQLText.term(condition))" }
      return sql
    }

    /// The levels of the order, each with a comma behind it.
    var terms: SQLText {
      var sql: SQLText = ""
      for term in order {
        sql += term.isDecimal ? "CAST(CAST(\(SQLText.term(term.value)) AS TEXT) AS NUMERIC)" : SQLText.term(term.value)
        if term.comparison != .values { sql += " COLLATE \(collation: term.comparison)" }
        sql += term.isAscending ? ", " : " DESC, "
      }
      return sql
    }

    var window: SQLText {
      guard limit != nil || offset > 0 else { return "" }
      return " LIMIT \(value: .integer(Int64(limit ?? -1))) OFFSET \(value: .integer(Int64(offset)))"
    }
  }

  static func rows(_ columns: [String], _ rows: RowSelection) -> SQLText {
    """
    SELECT \(names: columns) \(rows.clauses) ORDER BY \(rows.terms)Z_PK\(rows.window)
    """
  }

  static func count(_ rows: RowSelection) -> SQLText {
    if rows.limit == nil, rows.offset == 0 { return "SELECT COUNT(*) \(rows.clauses)" }
    return "SELECT COUNT(*) FROM (SELECT 1 \(rows.clauses)\(rows.window))"
  }

  /// The rows with so many keys, whatever their entities. Parameters: the keys.
  static func rows(_ columns: [String], of table: String, keyCount: Int) -> SQLText {
    if keyCount == 1 { return "SELECT \(names: columns) FROM \(name: table) WHERE Z_PK = \(parameter: ())" }
    let places = repeatElement("\(parameter: ())" as SQLText, count: keyCount).joined(separator: ", ")
    return "SELECT \(names: columns) FROM \(name: table) WHERE Z_PK IN (\(places)) ORDER BY Z_PK"
  }

  /// The members of a to-many relationship that name their owner: key and entity number, in order.
  /// Parameter: the owner.
  static func members(of table: String, owner: String, order: String?) -> SQLText {
    let places: SQLText = order.map { "\(name: $0) IS NULL, \(name: $0), " } ?? ""
    return "SELECT Z_PK, Z_ENT FROM \(name: table) WHERE \(name: owner) = \(parameter: ()) ORDER BY \(places)Z_PK"
  }

  /// The members of a many-to-many relationship: key and entity number, in order. Parameter: the owner.
  static func members(
    of table: String, joinedBy join: String, owner: String, member: String, order: String?
  ) -> SQLText {
    let places: SQLText = order.map { "j.\(name: $0) IS NULL, j.\(name: $0), " } ?? ""
    return """
      SELECT m.Z_PK, m.Z_ENT FROM \(name: join) AS j JOIN \(name: table) AS m ON m.Z_PK = j.\(name: member) \
      WHERE j.\(name: owner) = \(parameter: ()) ORDER BY \(places)m.Z_PK
      """
  }
}
