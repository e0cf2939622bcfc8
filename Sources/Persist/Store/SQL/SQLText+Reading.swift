/// Reading rows.
extension SQLText {
  /// A selection and order of rows in a hierarchy's table.
  struct RowSelection: Sendable {
    /// One level of a sort order.
    struct Term: Sendable, Hashable {
      /// A term over the rows, which are ``root`` in it.
      let value: SQLTerm
      let isAscending: Bool
      /// A decimal may be stored as text in a blob, which SQLite would sort after all numbers.
      let isDecimal: Bool
      let comparison: FetchSortDescriptor.Comparison
    }

    let table: String
    /// Entity numbers.
    let entities: [Int]
    /// Whether these are all entities of the table, in which case the index on entity numbers is avoided.
    let isWholeTable: Bool
    /// A JSON array of the keys; nil for all rows.
    var keys: String?
    var afterKey: Int64?
    /// A condition on the rows, which are ``root`` in it; nil for all rows.
    var condition: SQLTerm?
    /// The levels of the order; ties are resolved by key.
    var order: [Term] = []
    var limit: Int?
    var offset = 0

    static let root = SQLRow(number: 0)

    /// The clauses from `FROM` up to `ORDER BY`.
    var clauses: SQLText { "FROM \(name: table) AS \(row: Self.root) WHERE \(conditions)" }

    var conditions: SQLText {
      var sql: SQLText = isWholeTable ? "+Z_ENT" : "Z_ENT"
      sql += " IN (\(entities.map { "\(number: Int64($0))" as SQLText }.joined(separator: ", ")))"
      if let keys { sql += " AND Z_PK IN (SELECT value FROM json_each(\(value: .text(keys))))" }
      if let afterKey { sql += " AND Z_PK > \(value: .integer(afterKey))" }
      if let condition { sql += " AND \(SQLText.term(condition))" }
      return sql
    }

    /// The levels of the order, each followed by a comma.
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

  /// The rows with a number of keys, regardless of entity. Parameters: the keys.
  static func rows(_ columns: [String], of table: String, keyCount: Int) -> SQLText {
    if keyCount == 1 { return "SELECT \(names: columns) FROM \(name: table) WHERE Z_PK = \(parameter: ())" }
    let places = repeatElement("\(parameter: ())" as SQLText, count: keyCount).joined(separator: ", ")
    return "SELECT \(names: columns) FROM \(name: table) WHERE Z_PK IN (\(places)) ORDER BY Z_PK"
  }

  /// Key and entity number of the members of a to-many relationship whose rows contain the owner's key, in order.
  /// Parameter: the owner.
  static func members(of table: String, owner: String, order: String?) -> SQLText {
    let places: SQLText = order.map { "\(name: $0) IS NULL, \(name: $0), " } ?? ""
    return "SELECT Z_PK, Z_ENT FROM \(name: table) WHERE \(name: owner) = \(parameter: ()) ORDER BY \(places)Z_PK"
  }

  /// Key and entity number of the members of a many-to-many relationship, in order. Parameter: the owner.
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
