/// The states of what is parked: its age, and the columns in which values remained.
extension SharedSQL {
  package static func addParkedState(_ slot: ParkedSlot, at time: Double) -> SharedSQL {
    let column = slot.column
    return """
      \(.insertNew) PERSIST_PARKED_STATES (SLOT, TIME, MIGRATIONS, TABLENAME, COLUMNNAME, ENTITYNUMBER) \
      VALUES (\(number: Int64(slot.number)), \(number: Int64(time)), 0, \
      \(value: column.map { .text($0.table) } ?? .null), \(value: column.map { .text($0.name) } ?? .null), \
      \(value: column.map { .integer(Int64($0.entityNumber)) } ?? .null))
      """
  }

  /// The states of slots that no longer exist, whose numbers new ones may get.
  package static let removeUnusedParkedStates: SharedSQL =
    "DELETE FROM PERSIST_PARKED_STATES WHERE SLOT NOT IN (SELECT SLOT FROM PERSIST_PARKED)"

  /// Records another place of a slot's values.
  package static func setParkedColumn(_ slot: ParkedSlot) -> SharedSQL {
    let column = slot.column
    return """
      UPDATE PERSIST_PARKED_STATES SET TABLENAME = \(value: column.map { .text($0.table) } ?? .null), \
      COLUMNNAME = \(value: column.map { .text($0.name) } ?? .null), \
      ENTITYNUMBER = \(value: column.map { .integer(Int64($0.entityNumber)) } ?? .null) \
      WHERE SLOT = \(number: Int64(slot.number))
      """
  }

  package static let raiseParkedAges: SharedSQL = "UPDATE PERSIST_PARKED_STATES SET MIGRATIONS = MIGRATIONS + 1"

  /// Whether a slot is older than a time or a number of migrations.
  package static func countExpired(_ slot: ParkedSlot, _ condition: SharedSQL) -> SharedSQL {
    "SELECT COUNT(*) FROM PERSIST_PARKED_STATES WHERE SLOT = \(number: Int64(slot.number)) AND \(condition)"
  }

  package static func parkedBefore(_ time: Int64) -> SharedSQL { "TIME < \(number: time)" }

  package static func parkedMigrationsAgo(_ count: Int64) -> SharedSQL { "MIGRATIONS >= \(number: count)" }

  package static func parkedTime(_ slot: ParkedSlot) -> SharedSQL {
    "SELECT TIME FROM PERSIST_PARKED_STATES WHERE SLOT = \(number: Int64(slot.number))"
  }

  /// The number of migrations since a slot was parked.
  package static func parkedMigrations(_ slot: ParkedSlot) -> SharedSQL {
    "SELECT MIGRATIONS FROM PERSIST_PARKED_STATES WHERE SLOT = \(number: Int64(slot.number))"
  }

  package static func setParkedMigrations(_ slot: ParkedSlot, _ count: Int) -> SharedSQL {
    """
    UPDATE PERSIST_PARKED_STATES SET MIGRATIONS = \(number: Int64(count)) WHERE SLOT = \(number: Int64(slot.number))
    """
  }
}
