/// Parked values that return to a file, and those that go with their objects.
extension SQLText {
  /// Deletes the parked values of objects that have got other values since than missing ones or defaults.
  static func dropSuperseded(_ slot: ParkedSlot, table: String, column: String, defaults: [SQLValue]) -> SQLText {
    let others = defaults.map { " AND \(name: column) <> \(value: $0)" as SQLText }.joined(separator: "")
    return """
      DELETE FROM PERSIST_PARKED_VALUES WHERE SLOT = \(number: Int64(slot.number)) AND OBJECT IN \
      (SELECT Z_PK FROM \(name: table) WHERE \(name: column) IS NOT NULL\(others))
      """
  }

  /// Lets new objects of an entity have greater keys than all parked ones, which may return to its table.
  static func raiseKeyCounterAboveParked(entityNumber: Int) -> SQLText {
    let greatest: SQLText = """
      (SELECT MAX(v.OBJECT) FROM PERSIST_PARKED_VALUES AS v JOIN PERSIST_PARKED AS p ON p.SLOT = v.SLOT \
      WHERE p.KIND = 'object')
      """
    return """
      UPDATE Z_PRIMARYKEY SET Z_MAX = \(greatest) \
      WHERE Z_ENT = \(number: Int64(entityNumber)) AND IFNULL(Z_MAX, -1) < \(greatest)
      """
  }

  static func createParkedTrigger(table: String, slots: [Int]) -> SQLText {
    """
    CREATE TRIGGER \(name: ParkedSlot.trigger(of: table)) AFTER DELETE ON \(name: table) BEGIN \
    DELETE FROM PERSIST_PARKED_VALUES WHERE SLOT IN (\(numbers: slots)) AND OBJECT = OLD.Z_PK; \
    DELETE FROM PERSIST_PARKED_PAIRS WHERE SLOT IN (\(numbers: slots)) AND OWNER = OLD.Z_PK; END
    """
  }

  static func dropParkedTrigger(_ name: String) -> SQLText { "DROP TRIGGER IF EXISTS \(name: name)" }
}
