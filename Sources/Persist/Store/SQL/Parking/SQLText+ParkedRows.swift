/// The attributes whose types the values of a slot have, for engines whose columns have types.
package struct ParkedTypes: Sendable, Equatable {
  /// The type of the parked values; nil for objects and pairs, which are parked as integers.
  package let value: AttributeDescription?
  /// The type of the values that stand in for them; nil if none do.
  package let standIn: AttributeDescription?

  package init(value: AttributeDescription?, standIn: AttributeDescription?) {
    self.value = value
    self.standIn = standIn
  }
}

extension ParkedSlot.Kind {
  /// The columns of what is parked, besides the slot's number.
  package var rowColumns: [String] {
    switch self {
    case .object, .attribute: ["OBJECT", "VALUE", "STANDIN"]
    case .relationship: ["OWNER", "MEMBER", "PLACE", "INVERSEPLACE", "STANDIN"]
    }
  }
}

/// The rows of what is parked in a file, for copies in other engines.
extension SQLText {
  package static func parkedRows(_ slot: ParkedSlot) -> SQLText {
    let number = Int64(slot.number)
    guard let column = slot.column else {
      return "SELECT \(names: slot.kind.rowColumns) FROM \(SharedSQL.contents(slot)) WHERE SLOT = \(number: number)"
    }
    return """
      SELECT Z_PK, \(name: column.name), NULL FROM \(name: column.table) \
      WHERE Z_ENT IN (\(numbers: [column.entityNumber])) AND \(name: column.name) IS NOT NULL \
      UNION ALL SELECT OBJECT, NULL, STANDIN FROM PERSIST_PARKED_VALUES WHERE SLOT = \(number: number)
      """
  }

  static func addParkedRows(_ rows: [[SQLValue]], to slot: ParkedSlot) -> SQLText {
    let values = rows.map { row -> SQLText in
      let values = row.map { "\(value: $0)" as SQLText }.joined(separator: ", ")
      return "(\(number: Int64(slot.number)), \(values))"
    }
    return """
      INSERT INTO \(SharedSQL.contents(slot)) (SLOT, \(names: slot.kind.rowColumns)) \
      VALUES \(values.joined(separator: ", "))
      """
  }
}
