/// Versions, conditions and counts of rows.
extension SharedSQL {
  /// The version of a row, which may be null in a row of Core Data.
  static let rowVersion: SharedSQL = "\(.ifNull)(\(.version), 0)"
  /// The assignment that counts the version of a row up: a part of every update, so that others notice the change.
  static let countingUp: SharedSQL = "\(.version) = \(rowVersion) + 1"

  static func condition(_ condition: RowCondition) -> SharedSQL {
    var parts: [SharedSQL] = []
    if let numbers = condition.entityNumbers { parts.append("\(.entity) IN (\(numbers: numbers))") }
    parts += condition.missing.map { "\(name: $0) IS NULL" }
    parts += condition.tests.map { SharedSQL.condition($0) }
    return parts.isEmpty ? "" : " WHERE \(parts.joined(separator: " AND "))"
  }

  /// A query for a count, with one row and one column; nil for counts that each engine has its own query for.
  package static func count(_ count: RowCount) -> SharedSQL? {
    switch count {
    case .rows(let table, let rows): "SELECT COUNT(*) FROM \(name: table)\(condition(rows))"
    case .unknown(let table, let numbers):
      "SELECT COUNT(*) FROM \(name: table) WHERE \(.entity) IS NULL OR \(.entity) NOT IN (\(numbers: numbers))"
    case .present(let table, let column, let rows):
      "SELECT COUNT(\(name: column)) FROM \(name: table)\(condition(rows))"
    case .unparked(let table, let rows, let slots): unparked(table, rows, in: slots)
    default: pairCount(count)
    }
  }

  /// The texts of a column, each with the number of its rows.
  package static func texts(in table: String, column: String, _ rows: RowCondition) -> SharedSQL {
    """
    SELECT \(name: column), COUNT(*) FROM \(name: table)\(condition(rows))\(rows == .all ? " WHERE " : " AND ")\
    \(name: column) IS NOT NULL GROUP BY \(name: column)
    """
  }
}

/// Counts of parked values, which determine whether a migration can run.
extension SharedSQL {
  /// The objects and values of a slot as a subquery with the columns `OBJECT` and `VALUE`.
  ///
  /// Beside a column with values, only missing ones are in the table of parked values.
  package static func parkedValues(_ slot: ParkedSlot) -> SharedSQL {
    guard let column = slot.column else {
      return "(SELECT OBJECT, VALUE FROM PERSIST_PARKED_VALUES WHERE SLOT = \(number: Int64(slot.number)))"
    }
    return """
      (SELECT \(.key) AS OBJECT, \(name: column.name) AS VALUE FROM \(name: column.table) \
      WHERE \(.entity) IN (\(numbers: [column.entityNumber])) AND \(name: column.name) IS NOT NULL \
      UNION ALL SELECT OBJECT, NULL FROM PERSIST_PARKED_VALUES WHERE SLOT = \(number: Int64(slot.number)))
      """
  }

  /// Rows that have no parked value in any of the slots.
  static func unparked(_ table: String, _ rows: RowCondition, in slots: [ParkedSlot]) -> SharedSQL {
    let conditions = slots.enumerated().map { number, slot -> SharedSQL in
      "\(.key) NOT IN (SELECT OBJECT FROM \(parkedValues(slot)) AS v\(number: Int64(number)) WHERE VALUE IS NOT NULL)"
    }.joined(separator: " AND ")
    return "SELECT COUNT(*) FROM \(name: table)\(condition(rows))\(rows == .all ? " WHERE " : " AND ")\(conditions)"
  }
}

/// Rows that are related to those of a batch deletion.
extension SharedSQL {
  /// Keys and entity numbers of the rows whose column contains one of the keys.
  package static func keys(in table: String, where column: String, isIn keys: Set<Int64>) -> SharedSQL {
    "SELECT \(.key), \(.entity) FROM \(name: table) WHERE \(name: column) \(isOneOf: Array(keys))"
  }

  /// Keys and entity numbers of the rows referenced by a column of other rows.
  package static func keys(
    in table: String, from other: String, _ column: String, where own: String, isIn keys: Set<Int64>
  ) -> SharedSQL {
    """
    SELECT \(.key), \(.entity) FROM \(name: table) WHERE \(.key) IN \
    (SELECT \(name: column) FROM \(name: other) WHERE \(name: own) \(isOneOf: Array(keys)))
    """
  }

  /// Sets columns to null, and increments the versions of the rows.
  package static func clear(
    _ columns: [String], of table: String, where column: String, isIn keys: Set<Int64>
  ) -> SharedSQL {
    let changes = columns.map { ", \(name: $0) = NULL" as SharedSQL }.joined(separator: "")
    return """
      UPDATE \(name: table) SET \(countingUp)\(changes) WHERE \(name: column) \(isOneOf: Array(keys))
      """
  }

  package static func delete(from table: String, where column: String, isIn keys: Set<Int64>) -> SharedSQL {
    "DELETE FROM \(name: table) WHERE \(name: column) \(isOneOf: Array(keys))"
  }
}
