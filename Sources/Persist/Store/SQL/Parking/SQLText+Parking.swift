/// Parked values in a file, whose columns can contain values of any type.
extension SQLText {
  static let createParking =
    [
      SQLText(.createParkedSlots), SQLText(.createParkedModels), createParkedValues, SQLText(.createParkedPairs),
      SQLText(.createParkedStates),
    ]

  /// Only for files, whose columns can contain values of any type.
  private static let createParkedValues: SQLText = """
    CREATE TABLE IF NOT EXISTS PERSIST_PARKED_VALUES (SLOT INTEGER, OBJECT INTEGER, VALUE, STANDIN, \
    PRIMARY KEY (SLOT, OBJECT))
    """

  /// The parked values of the attached store for the connection's own.
  package static var copyParking: [SQLText] {
    createParking
      + ParkedSlot.Table.all.map { "INSERT INTO main.\(name: $0) SELECT * FROM \(copySchema).\(name: $0)" }
  }
}

// MARK: Values of attributes

extension SQLText {
  private static func rows(_ numbers: [Int]) -> SQLText { "Z_ENT IN (\(numbers: numbers))" }

  /// The values of a column that are parked.
  package enum ParkedRows: Sendable, Hashable { case all, present, missing }

  static func parkValues(
    _ slot: ParkedSlot, table: String, column: String, numbers: [Int], rows which: ParkedRows
  ) -> SQLText {
    let condition: SQLText =
      switch which {
      case .all: ""
      case .present: " AND \(name: column) IS NOT NULL"
      case .missing: " AND \(name: column) IS NULL"
      }
    return """
      INSERT INTO PERSIST_PARKED_VALUES (SLOT, OBJECT, VALUE) \
      SELECT \(number: Int64(slot.number)), Z_PK, \(name: column) FROM \(name: table) WHERE \(rows(numbers))\(condition)
      """
  }

  /// Deletes parked values whose stand-ins were changed since.
  static func dropReplacedValues(_ slot: ParkedSlot, table: String, column: String) -> SQLText {
    """
    DELETE FROM PERSIST_PARKED_VALUES WHERE SLOT = \(number: Int64(slot.number)) AND EXISTS \
    (SELECT 1 FROM \(name: table) AS t WHERE t.Z_PK = PERSIST_PARKED_VALUES.OBJECT \
    AND t.\(name: column) IS NOT PERSIST_PARKED_VALUES.STANDIN)
    """
  }

  static func recordStandIns(_ slot: ParkedSlot, table: String, column: String) -> SQLText {
    """
    UPDATE PERSIST_PARKED_VALUES SET STANDIN = (SELECT t.\(name: column) FROM \(name: table) AS t \
    WHERE t.Z_PK = PERSIST_PARKED_VALUES.OBJECT) WHERE SLOT = \(number: Int64(slot.number))
    """
  }

  static func restoreValues(
    _ slot: ParkedSlot, table: String, column: String, _ numbers: [Int], mark: MarkChange, onlyPresent: Bool
  ) -> SQLText {
    let value: SQLText =
      switch mark {
      case .same: "VALUE"
      case .added: "CASE WHEN VALUE IS NULL THEN NULL ELSE CAST(x'01' || VALUE AS BLOB) END"
      case .removed: "SUBSTR(VALUE, 2)"
      }
    let own: SQLText = "SLOT = \(number: Int64(slot.number))"
    return """
      UPDATE \(name: table) SET \(name: column) = \
      (SELECT \(value) FROM PERSIST_PARKED_VALUES WHERE \(own) AND OBJECT = \(name: table).Z_PK) \
      WHERE \(rows(numbers)) AND Z_PK IN \
      (SELECT OBJECT FROM PERSIST_PARKED_VALUES WHERE \(own)\(onlyPresent ? " AND VALUE IS NOT NULL" : ""))
      """
  }

  /// The objects whose parked value is the name of a file: key and value.
  package static func parkedFiles(_ slot: ParkedSlot) -> SQLText {
    """
    SELECT OBJECT, VALUE FROM PERSIST_PARKED_VALUES WHERE SLOT = \(number: Int64(slot.number)) \
    AND LENGTH(VALUE) = 38 AND SUBSTR(VALUE, 1, 1) = x'02'
    """
  }

  package static func setParkedValue(_ slot: ParkedSlot, of object: Int64, _ value: SQLValue) -> SQLText {
    """
    UPDATE PERSIST_PARKED_VALUES SET VALUE = \(value: value) \
    WHERE SLOT = \(number: Int64(slot.number)) AND OBJECT = \(number: object)
    """
  }
}

// MARK: Objects

extension SQLText {
  static func parkObjects(_ slot: ParkedSlot, table: String, _ numbers: [Int]) -> SQLText {
    parkValues(slot, table: table, column: "Z_OPT", numbers: numbers, rows: .all)
  }

  /// - Parameter fills: The values of columns that the parked objects don't have.
  static func restoreObjects(
    _ slot: ParkedSlot, table: String, number: Int, fills: [(column: String, value: SQLValue)]
  ) -> SQLText {
    let columns = ["Z_PK", "Z_ENT", "Z_OPT"] + fills.map(\.column)
    let values = fills.map { fill -> SQLText in ", \(value: fill.value)" }.joined(separator: "")
    return """
      INSERT INTO \(name: table) (\(names: columns)) SELECT OBJECT, \(number: Int64(number)), VALUE\(values) \
      FROM PERSIST_PARKED_VALUES WHERE SLOT = \(number: Int64(slot.number)) \
      AND OBJECT NOT IN (SELECT Z_PK FROM \(name: table))
      """
  }
}
