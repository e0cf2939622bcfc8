/// Reading rows.
extension SQLText {
  /// A selection and order of rows in a hierarchy's table.
  package struct RowSelection: Sendable {
    /// One level of a sort order.
    package struct Term: Sendable, Equatable {
      /// A term over the rows, which are ``root`` in it.
      package let value: SQLTerm
      package let isAscending: Bool
      /// A decimal may be stored as text in a blob, which SQLite would sort after all numbers, and SQLite doesn't
      /// compare all digits of such a text.
      package let isDecimal: Bool
      package let comparison: FetchSortDescriptor.Comparison

      package init(value: SQLTerm, isAscending: Bool, isDecimal: Bool, comparison: FetchSortDescriptor.Comparison) {
        self.value = value
        self.isAscending = isAscending
        self.isDecimal = isDecimal
        self.comparison = comparison
      }
    }

    /// The rows of a table by their entities.
    package enum Entities: Sendable, Equatable {
      /// Every row. Without a condition on entity numbers, an index alone can answer a query.
      case all
      /// The rows of these entities, which are all that the model has in the table.
      case known([Int])
      case some([Int])
    }

    package let table: String
    package let entities: Entities
    /// A JSON array of the keys; nil for all rows.
    package var keys: String?
    package var afterKey: Int64?
    /// A condition on the rows, which are ``root`` in it; nil for all rows.
    package var condition: SQLTerm?
    /// The levels of the order; ties are resolved by key.
    package var order: [Term] = []
    package var limit: Int?
    package var offset = 0
    /// Whether the statement sorts. Without an order, SQLite finds rows by whichever index it prefers; sorting by key
    /// would make it walk through the table instead.
    package var isSorted = true

    package init(
      table: String, entities: Entities, keys: String? = nil, afterKey: Int64? = nil, condition: SQLTerm? = nil,
      order: [Term] = [], limit: Int? = nil, offset: Int = 0, isSorted: Bool = true
    ) {
      self.table = table
      self.entities = entities
      self.keys = keys
      self.afterKey = afterKey
      self.condition = condition
      self.order = order
      self.limit = limit
      self.offset = offset
      self.isSorted = isSorted
    }

    package static let root = SQLRow(number: 0)

    /// The clauses from `FROM` up to `ORDER BY`.
    var clauses: SQLText {
      let join = RelatedRowsJoin(condition)
      return "FROM \(name: table) AS \(row: Self.root)\(join.tables)\(conditions(join.condition))"
    }

    /// Whether there is no condition on the rows.
    var isUnconditional: Bool { entities == .all && keys == nil && afterKey == nil && condition == nil }

    /// The clause with all conditions, after a space; empty if there are none.
    var conditions: SQLText { conditions(condition) }

    private func conditions(_ condition: SQLTerm?) -> SQLText {
      var parts: [SQLText] = []
      switch entities {
      case .all: break
      // The plus keeps SQLite from using the index on entity numbers, which would lead to every row.
      case .known(let numbers): parts.append("+Z_ENT IN (\(numbers: numbers))")
      case .some(let numbers): parts.append("Z_ENT IN (\(numbers: numbers))")
      }
      if let keys { parts.append("Z_PK IN (SELECT value FROM json_each(\(value: .text(keys))))") }
      if let afterKey { parts.append("Z_PK > \(value: .integer(afterKey))") }
      if let condition { parts.append(SQLText.term(condition)) }
      return parts.isEmpty ? "" : " WHERE \(parts.joined(separator: " AND "))"
    }

    /// The levels of the order, each followed by a comma.
    var terms: SQLText {
      var sql: SQLText = ""
      for term in order {
        sql += SQLText.term(term.isDecimal ? .call(.decimalKey, [term.value]) : term.value)
        if term.comparison != .values { sql += " COLLATE \(collation: term.comparison)" }
        sql += term.isAscending ? ", " : " DESC, "
      }
      return sql
    }

    /// The clause with the order, after a space; empty if the statement doesn't sort.
    var sorting: SQLText { isSorted ? " ORDER BY \(terms)Z_PK" : "" }

    var window: SQLText {
      guard limit != nil || offset > 0 else { return "" }
      return " LIMIT \(value: .integer(Int64(limit ?? -1))) OFFSET \(value: .integer(Int64(offset)))"
    }
  }

  package static func rows(_ columns: SQLText, _ rows: RowSelection) -> SQLText {
    "SELECT \(columns) \(rows.clauses)\(rows.sorting)\(rows.window)"
  }

  /// The columns of a row's key and entity number, or the number itself if all rows of the table have the same: an
  /// index contains keys, but no entity numbers.
  package static func keyColumns(ofOnly number: Int?) -> SQLText {
    if let number { "Z_PK, \(number: Int64(number))" } else { "Z_PK, Z_ENT" }
  }

  package static func count(_ rows: RowSelection) -> SQLText {
    if rows.limit == nil, rows.offset == 0 { return "SELECT COUNT(*) \(rows.clauses)" }
    return "SELECT COUNT(*) FROM (SELECT 1 \(rows.clauses)\(rows.window))"
  }

  /// The rows with a number of keys, regardless of entity. Parameters: the keys.
  package static func rows(_ columns: [String], of table: String, keyCount: Int) -> SQLText {
    if keyCount == 1 { return "SELECT \(names: columns) FROM \(name: table) WHERE Z_PK = \(parameter: ())" }
    return "SELECT \(names: columns) FROM \(name: table) WHERE Z_PK IN (\(parameters: keyCount)) ORDER BY Z_PK"
  }

  /// Key and entity number of the members of a to-many relationship whose rows contain the owner's key, in order.
  /// Parameter: the owner.
  ///
  /// - Parameter number: The entity number of all rows of the table, if they have the same.
  package static func members(of table: String, onlyOf number: Int?, owner: String, order: String?) -> SQLText {
    let places: SQLText = order.map { "\(name: $0) IS NULL, \(name: $0), " } ?? ""
    return """
      SELECT \(keyColumns(ofOnly: number)) FROM \(name: table) \
      WHERE \(name: owner) = \(parameter: ()) ORDER BY \(places)Z_PK
      """
  }

  /// Key and entity number of the members of a many-to-many relationship, in order. Parameter: the owner.
  package static func members(
    of table: String, joinedBy join: String, owner: String, member: String, order: String?
  ) -> SQLText {
    let places: SQLText = order.map { "j.\(name: $0) IS NULL, j.\(name: $0), " } ?? ""
    return """
      SELECT m.Z_PK, m.Z_ENT FROM \(name: join) AS j JOIN \(name: table) AS m ON m.Z_PK = j.\(name: member) \
      WHERE j.\(name: owner) = \(parameter: ()) ORDER BY \(places)m.Z_PK
      """
  }
}

extension SQLText {
  /// Returns SQLite's plan for a query, with the same values; the text of a step is the fourth column.
  package static func plan(of sql: SQLText) -> SQLText { "EXPLAIN QUERY PLAN \(sql)" }
}
