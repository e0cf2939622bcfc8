extension SQLText {
  static func expression(_ expression: RowExpression) -> SQLText {
    switch expression {
    case .column(let name): return "\(name: name)"
    case .constant(let value): return constant(value)
    case .filled(.constant(.null), let value): return constant(value)
    case .filled(let inner, let value): return "IFNULL(\(self.expression(inner)), \(constant(value)))"
    case .ifPresent(let columns, let inner, let value):
      let present = columns.map { "\(name: $0) IS NOT NULL" as SQLText }.joined(separator: " OR ")
      guard !columns.isEmpty else { return constant(value) }
      return "CASE WHEN \(present) THEN \(self.expression(inner)) ELSE \(constant(value)) END"
    case .byEntity(let cases, let otherwise):
      let branches = cases.map { branch -> SQLText in
        "WHEN Z_ENT IN (\(numbers: branch.numbers)) THEN \(self.expression(branch.value))"
      }.joined(separator: " ")
      return "CASE \(branches) ELSE \(self.expression(otherwise)) END"
    case .renumbered(let column, let numbers): return renumbered(column, numbers)
    // Concatenating texts concatenates their bytes; both operands are blobs, and the result is cast back to one.
    case .marked(let column): return "CAST(x'01' || \(name: column) AS BLOB)"
    case .unmarked(let column):
      return "CASE WHEN SUBSTR(\(name: column), 1, 1) = x'01' THEN SUBSTR(\(name: column), 2) ELSE \(name: column) END"
    case .shifted(let column, 0): return "\(name: column)"
    case .shifted(let column, let distance): return "\(name: column) + \(number: distance)"
    case .found(let column, let distance, let table, let numbers):
      return """
        (SELECT there.Z_PK + \(number: distance) FROM \(name: table) AS there \
        WHERE there.Z_PK = \(row: RowSelection.root).\(name: column) AND there.Z_ENT IN (\(numbers: numbers)))
        """
    }
  }

  private static func renumbered(_ column: String, _ numbers: [Int: Int]) -> SQLText {
    let changed = numbers.filter { $0.key != $0.value }.sorted(on: \.key)
    guard !changed.isEmpty else { return "\(name: column)" }
    let branches = changed.map { old, new -> SQLText in "WHEN \(numbers: [old]) THEN \(numbers: [new])" }
    return "CASE \(name: column) \(branches.joined(separator: " ")) ELSE \(name: column) END"
  }

  /// A query for a count, with one row and one column.
  package static func count(_ count: RowCount) -> SQLText {
    switch count {
    case .outside(let range, let table, let column, let rows):
      return """
        SELECT COUNT(CASE WHEN typeof(\(name: column)) <> 'integer' \
        OR \(name: column) NOT BETWEEN \(number: range.lowerBound) AND \(number: range.upperBound) \
        THEN \(name: column) END) FROM \(name: table)\(SharedSQL.condition(rows))
        """
    // The engine reads the values, and examines them.
    case .missingFiles(let table, let column, let rows): return namedFiles(in: table, column: column, rows)
    case .otherThanURIs(let table, let column, let rows): return SQLText(.texts(in: table, column: column, rows))
    case .duplicates(let table, let values, let rows):
      // Constants don't affect grouping, and an integer would be interpreted as a column number.
      let parting = values.filter { value in
        switch value {
        case .constant, .filled(.constant, _): false
        default: true
        }
      }
      // Constants alone make all rows one group.
      let list: SQLText = parting.isEmpty ? "Z_PK - Z_PK" : parting.map(expression).joined(separator: ", ")
      let present = (values.map { value -> SQLText in "\(expression(value)) IS NOT NULL" }
        + rows.tests.map { SQLText(SharedSQL.condition($0)) }).joined(separator: " AND ")
      let start: SQLText = rows.entityNumbers.map { "Z_ENT IN (\(numbers: $0)) AND " } ?? ""
      return """
        SELECT IFNULL(SUM(extra), 0) FROM (SELECT COUNT(*) - 1 AS extra FROM \(name: table) \
        WHERE \(start)\(present) GROUP BY \(list) HAVING COUNT(*) > 1) AS found
        """
    case .rejectedNumbers(let change, let rule, let gone): return violations(of: rule, by: change, without: gone)
    case .parkedOutside(let range, let slot): return parkedOutside(range, slot: slot)
    case .parkedDuplicates(let slot, let slots, let table, let values, let rows):
      return parkedDuplicates(slot: slot, slots: slots, of: table, having: values.map(expression), rows: rows)
    case .rows, .unknown, .present, .related, .crowded, .conflicting, .unmatched, .unrelated, .unparked:
      return SharedSQL.count(count).map { SQLText($0) } ?? "SELECT 0"
    }
  }
}

/// Counts of parked values in a file.
extension SQLText {
  static func parkedOutside(_ range: ClosedRange<Int64>, slot: ParkedSlot) -> SQLText {
    """
    SELECT COUNT(CASE WHEN typeof(VALUE) <> 'integer' \
    OR VALUE NOT BETWEEN \(number: range.lowerBound) AND \(number: range.upperBound) THEN VALUE END) \
    FROM \(SharedSQL.parkedValues(slot)) AS v
    """
  }

  /// - Parameter values: The values of a row.
  static func parkedDuplicates(
    slot: Int, slots: [Int], of table: String, having values: [SQLText], rows: RowCondition
  ) -> SQLText {
    let same = zip(slots, values).map { slot, value -> SQLText in
      """
      \(value) = (SELECT p.VALUE FROM PERSIST_PARKED_VALUES AS p WHERE p.SLOT = \(number: Int64(slot)) \
      AND p.OBJECT = o.OBJECT)
      """
    }
    let start = SharedSQL.condition(rows)
    return """
      SELECT COUNT(*) FROM PERSIST_PARKED_VALUES AS o WHERE o.SLOT = \(number: Int64(slot)) AND EXISTS (SELECT 1 \
      FROM \(name: table)\(start)\(rows == .all ? " WHERE " : " AND ")\(same.joined(separator: " AND ")))
      """
  }
}

extension SQLText {
  /// The content of a column for rows whose value is stored in a file.
  package static func fileNames(in table: String, column: String, _ rows: RowCondition) -> SQLText {
    let start = SharedSQL.condition(rows)
    let isNamed: SQLText = "SUBSTR(\(name: column), 1, 1) = x'02'"
    return "SELECT \(name: column) FROM \(name: table)\(start)\(rows == .all ? " WHERE " : " AND ")\(isNamed)"
  }

  /// The keys and the content of a column for rows whose value is stored in a file.
  package static func namedFiles(in table: String, column: String, _ rows: RowCondition) -> SQLText {
    """
    SELECT Z_PK, \(name: column) FROM \(name: table)\(SharedSQL.condition(rows))\(rows == .all ? " WHERE " : " AND ")\
    SUBSTR(\(name: column), 1, 1) = x'02'
    """
  }

  package static func set(_ value: SQLValue, in column: String, of table: String, row: Int64) -> SQLText {
    "UPDATE \(name: table) SET \(name: column) = \(value: value) WHERE Z_PK = \(number: row)"
  }

  /// The greatest key of a table, which approximates the number of its rows and is found immediately.
  package static func greatestRow(of table: String) -> SQLText { "SELECT IFNULL(MAX(rowid), 0) FROM \(name: table)" }
}
