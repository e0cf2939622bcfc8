/// Counts of parked values and pairs, and those that objects have again.
extension SharedSQL {
  /// The number of values or pairs of a slot.
  package static func countParked(_ slot: ParkedSlot) -> SharedSQL {
    slot.kind == .relationship
      ? "SELECT COUNT(*) FROM PERSIST_PARKED_PAIRS WHERE SLOT = \(number: Int64(slot.number))"
      : countRestored(slot, onlyPresent: false)
  }

  /// The number of parked objects whose key another row has.
  package static func countParkedKeys(_ slot: ParkedSlot, in table: String) -> SharedSQL {
    """
    SELECT COUNT(*) FROM PERSIST_PARKED_VALUES WHERE SLOT = \(number: Int64(slot.number)) \
    AND OBJECT IN (SELECT \(.key) FROM \(name: table))
    """
  }

  /// The number of values that are restored.
  package static func countRestored(_ slot: ParkedSlot, onlyPresent: Bool) -> SharedSQL {
    "SELECT COUNT(*) FROM \(parkedValues(slot)) AS v\(onlyPresent ? " WHERE VALUE IS NOT NULL" : "")"
  }

  /// Deletes the parked values that objects have again.
  package static func dropRestoredValues(_ slot: ParkedSlot, table: String) -> SharedSQL {
    """
    DELETE FROM PERSIST_PARKED_VALUES WHERE SLOT = \(number: Int64(slot.number)) AND VALUE IS NOT NULL \
    AND OBJECT IN (SELECT \(.key) FROM \(name: table))
    """
  }

  /// The numbers of parked values, and of parked pairs, whose slot is missing.
  package static let strayParkedRows: [SharedSQL] = [ParkedSlot.Table.values, ParkedSlot.Table.pairs].map { table in
    "SELECT COUNT(*) FROM \(name: table) WHERE SLOT NOT IN (SELECT SLOT FROM PERSIST_PARKED)"
  }
}
