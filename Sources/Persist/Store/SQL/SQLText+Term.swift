extension SQLText {
  package static func term(_ term: SQLTerm) -> SQLText {
    switch term {
    case .column(let name, let row): "\(row: row).\(name: name)"
    case .value(let value): "\(value: value)"
    case .binary(let operation, let left, let right): "(\(self.term(left))\(symbol(operation))\(self.term(right)))"
    case .negative(let part): "(-\(self.term(part)))"
    case .complement(let part): "(~\(self.term(part)))"
    case .real(let part): "CAST(\(self.term(part)) AS REAL)"
    case .whole(let part): "CAST(\(self.term(part)) AS INTEGER)"
    case .text(let part): "CAST(\(self.term(part)) AS TEXT)"
    case .isNull(let part): "(\(self.term(part)) IS NULL)"
    case .isPresent(let part): "(\(self.term(part)) IS NOT NULL)"
    case .not(let part): "(\(self.term(part)) IS NOT 1)"
    case .all(let parts): joined(parts[...], " AND ", ofNone: "TRUE")
    case .any(let parts): joined(parts[...], " OR ", ofNone: "FALSE")
    case .between(let part, let lower, let upper):
      "(\(self.term(part)) BETWEEN \(self.term(lower)) AND \(self.term(upper)))"
    case .isOne(let part, let values): "(\(self.term(part)) IN (\(values: values)))"
    case .isMember(let part, let json):
      "(\(self.term(part)) IN (SELECT value FROM json_each(\(value: .text(json)))))"
    case .isSelected(let part, let value, let scan):
      "(\(self.term(part)) IN (SELECT \(self.term(value)) FROM \(self.scan(scan))))"
    case .hasText(let key, let index, let query): "(\(self.term(key)) IN (\(matches(of: index, query))))"
    case .relevance(let key, let index, let query): relevance(ofKey: self.term(key), index, query)
    case .call(let function, let arguments):
      "\(function: function)(\(arguments.map(self.term).joined(separator: ", ")))"
    case .choice(let condition, let first, let second):
      "(CASE WHEN \(self.term(condition)) THEN \(self.term(first)) ELSE \(self.term(second)) END)"
    case .only(let value, let scan): "(SELECT \(self.term(value)) FROM \(self.scan(scan)))"
    case .count(let scan): "(SELECT COUNT(*) FROM \(self.scan(scan)))"
    case .exists(let scan): "EXISTS (SELECT 1 FROM \(self.scan(scan)))"
    case .least(let value, let scan): "(SELECT MIN(\(self.term(value))) FROM \(self.scan(scan)))"
    case .greatest(let value, let scan): "(SELECT MAX(\(self.term(value))) FROM \(self.scan(scan)))"
    case .sum(let value, let scan): "(SELECT IFNULL(SUM(\(self.term(value))), 0) FROM \(self.scan(scan)))"
    }
  }

  /// Selects a value of each row of a scan as a column. Related rows that the scan's condition selects are joined.
  static func selection(of value: SQLTerm, named name: String, from scan: SQLScan) -> SQLText {
    var scan = scan
    let join = RelatedRowsJoin(scan.condition)
    scan.condition = join.condition
    return "SELECT \(term(value)) AS \(name: name) FROM \(self.scan(scan, with: join.tables))"
  }

  /// Joins parts as a balanced tree: SQLite parses `a OR b OR c` as nested, and limits expressions to a thousand
  /// levels.
  private static func joined(_ parts: ArraySlice<SQLTerm>, _ word: SQLText, ofNone none: SQLText) -> SQLText {
    guard parts.count > 1, let first = parts.first else { return parts.first.map(term) ?? none }
    if parts.count == 2, let last = parts.last { return "(\(term(first))\(word)\(term(last)))" }
    let middle = parts.startIndex + parts.count / 2
    return "(\(joined(parts[..<middle], word, ofNone: none))\(word)\(joined(parts[middle...], word, ofNone: none)))"
  }

  /// - Parameter joined: Further tables, each after a comma.
  private static func scan(_ scan: SQLScan, with joined: SQLText = "") -> SQLText {
    let tables = scan.tables.map { table -> SQLText in "\(name: table.name) AS \(row: table.row)" }
    let conditions = scan.tables.compactMap(\.condition) + (scan.condition.map { [$0] } ?? [])
    return "\(tables.joined(separator: ", "))\(joined) WHERE \(term(.all(conditions)))"
  }

  private static func symbol(_ operation: SQLTerm.Operator) -> SQLText {
    switch operation {
    case .equal: " = "
    case .less: " < "
    case .lessOrEqual: " <= "
    case .greater: " > "
    case .greaterOrEqual: " >= "
    case .same: " IS "
    case .different: " IS NOT "
    case .add: " + "
    case .subtract: " - "
    case .multiply: " * "
    case .divide: " / "
    case .remainder: " % "
    case .and: " & "
    case .or: " | "
    case .shiftLeft: " << "
    case .shiftRight: " >> "
    }
  }
}
