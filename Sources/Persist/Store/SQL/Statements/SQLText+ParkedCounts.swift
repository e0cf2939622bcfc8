/// Counts of parked values, which determine whether a migration can run.
extension SQLText {
  /// The objects and values of a slot as a subquery with the columns `OBJECT` and `VALUE`.
  ///
  /// Beside a column with values, only missing ones are in the table of parked values.
  package static func parkedValues(_ slot: ParkedSlot) -> SQLText {
    guard let column = slot.column else {
      return "(SELECT OBJECT, VALUE FROM PERSIST_PARKED_VALUES WHERE SLOT = \(number: Int64(slot.number)))"
    }
    return """
      (SELECT Z_PK AS OBJECT, \(name: column.name) AS VALUE FROM \(name: column.table) \
      WHERE Z_ENT IN (\(numbers: [column.entityNumber])) AND \(name: column.name) IS NOT NULL \
      UNION ALL SELECT OBJECT, NULL FROM PERSIST_PARKED_VALUES WHERE SLOT = \(number: Int64(slot.number)))
      """
  }

  /// Rows that have no parked value in any of the slots.
  static func unparked(_ table: String, _ rows: RowCondition, _ slots: [ParkedSlot]) -> SQLText {
    let conditions = slots.enumerated().map { number, slot -> SQLText in
      "Z_PK NOT IN (SELECT OBJECT FROM \(parkedValues(slot)) AS v\(number: Int64(number)) WHERE VALUE IS NOT NULL)"
    }.joined(separator: " AND ")
    return "SELECT COUNT(*) FROM \(name: table)\(condition(rows))\(rows == .all ? " WHERE " : " AND ")\(conditions)"
  }

  static func parkedOutside(_ range: ClosedRange<Int64>, slot: ParkedSlot) -> SQLText {
    """
    SELECT COUNT(CASE WHEN typeof(VALUE) <> 'integer' \
    OR VALUE NOT BETWEEN \(number: range.lowerBound) AND \(number: range.upperBound) THEN VALUE END) \
    FROM \(parkedValues(slot)) AS v
    """
  }

  /// - Parameter values: The values of a row.
  static func parkedDuplicates(
    slot: Int, _ slots: [Int], of table: String, _ values: [SQLText], _ rows: RowCondition
  ) -> SQLText {
    let same = zip(slots, values).map { slot, value -> SQLText in
      """
      \(value) = (SELECT p.VALUE FROM PERSIST_PARKED_VALUES AS p WHERE p.SLOT = \(number: Int64(slot)) \
      AND p.OBJECT = o.OBJECT)
      """
    }
    let start = condition(rows)
    return """
      SELECT COUNT(*) FROM PERSIST_PARKED_VALUES AS o WHERE o.SLOT = \(number: Int64(slot)) AND EXISTS (SELECT 1 \
      FROM \(name: table)\(start)\(rows == .all ? " WHERE " : " AND ")\(same.joined(separator: " AND ")))
      """
  }

  /// The owners of parked pairs that are restored. Those that also remained in the store are restored from there, or
  /// were removed since.
  static func parkedOwners(_ pairs: ParkedPairRows) -> SQLText {
    let members = pairs.members.map { "MEMBER IN (\(keys(of: $0)))" as SQLText }
    let objects: SQLText =
      "SELECT OBJECT FROM PERSIST_PARKED_VALUES WHERE SLOT IN (\(numbers: pairs.parkedMembers))"
    let parked: [SQLText] = pairs.parkedMembers.isEmpty ? [] : ["MEMBER IN (\(objects))"]
    return """
      SELECT OWNER FROM PERSIST_PARKED_PAIRS WHERE SLOT IN (\(numbers: pairs.slots)) \
      AND IFNULL(STANDIN, 0) = 0 AND (\((members + parked + ["1 = 0"]).joined(separator: " OR ")))
      """
  }
}
