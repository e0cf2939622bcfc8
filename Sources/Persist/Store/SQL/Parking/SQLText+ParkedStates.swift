/// The states of what is parked: its age, and the columns in which values remained.
extension SQLText {
  /// A table of its own, because stores of earlier versions of Persist have none. Times are in seconds since 2001.
  package static let createParkedStates: [SQLText] = [
    """
    CREATE TABLE IF NOT EXISTS PERSIST_PARKED_STATES (SLOT INTEGER PRIMARY KEY, TIME BIGINT, MIGRATIONS INTEGER, \
    TABLENAME VARCHAR, COLUMNNAME VARCHAR, ENTITYNUMBER INTEGER)
    """
  ]

  /// The parked values of the attached store for the connection's own.
  package static var copyParking: [SQLText] {
    createParking
      + ParkedSlot.Table.all.map { "INSERT INTO main.\(name: $0) SELECT * FROM \(copySchema).\(name: $0)" }
  }

  package static func addParkedState(_ slot: ParkedSlot, at time: Double) -> SQLText {
    let column = slot.column
    return """
      INSERT OR IGNORE INTO PERSIST_PARKED_STATES (SLOT, TIME, MIGRATIONS, TABLENAME, COLUMNNAME, ENTITYNUMBER) \
      VALUES (\(number: Int64(slot.number)), \(number: Int64(time)), 0, \
      \(value: column.map { .text($0.table) } ?? .null), \(value: column.map { .text($0.name) } ?? .null), \
      \(value: column.map { .integer(Int64($0.entityNumber)) } ?? .null))
      """
  }

  /// The states of slots that no longer exist, whose numbers new ones may get.
  package static let removeUnusedParkedStates: SQLText =
    "DELETE FROM PERSIST_PARKED_STATES WHERE SLOT NOT IN (SELECT SLOT FROM PERSIST_PARKED)"

  /// Records another place of a slot's values.
  package static func setParkedColumn(_ slot: ParkedSlot) -> SQLText {
    let column = slot.column
    return """
      UPDATE PERSIST_PARKED_STATES SET TABLENAME = \(value: column.map { .text($0.table) } ?? .null), \
      COLUMNNAME = \(value: column.map { .text($0.name) } ?? .null), \
      ENTITYNUMBER = \(value: column.map { .integer(Int64($0.entityNumber)) } ?? .null) \
      WHERE SLOT = \(number: Int64(slot.number))
      """
  }

  package static let raiseParkedAges: SQLText = "UPDATE PERSIST_PARKED_STATES SET MIGRATIONS = MIGRATIONS + 1"

  /// Whether a slot is older than a time or a number of migrations.
  package static func countExpired(_ slot: ParkedSlot, _ condition: SQLText) -> SQLText {
    "SELECT COUNT(*) FROM PERSIST_PARKED_STATES WHERE SLOT = \(number: Int64(slot.number)) AND \(condition)"
  }

  package static func parkedBefore(_ time: Int64) -> SQLText { "TIME < \(number: time)" }
  package static func parkedMigrationsAgo(_ count: Int64) -> SQLText { "MIGRATIONS >= \(number: count)" }

  package static func parkedTime(_ slot: ParkedSlot) -> SQLText {
    "SELECT TIME FROM PERSIST_PARKED_STATES WHERE SLOT = \(number: Int64(slot.number))"
  }

  package static let removeEmptyParkedSlots: SQLText = """
    DELETE FROM PERSIST_PARKED WHERE SLOT NOT IN (SELECT SLOT FROM PERSIST_PARKED_VALUES) \
    AND SLOT NOT IN (SELECT SLOT FROM PERSIST_PARKED_PAIRS) \
    AND SLOT NOT IN (SELECT SLOT FROM PERSIST_PARKED_STATES WHERE COLUMNNAME IS NOT NULL)
    """
}
