/// The tables of what is parked in a store, except for the values.
extension SharedSQL {
  package static let createParkedSlots: SharedSQL = """
    CREATE TABLE IF NOT EXISTS PERSIST_PARKED (SLOT \(.integer) PRIMARY KEY, KIND VARCHAR, ENTITY VARCHAR, \
    PROPERTY VARCHAR, ELEMENTS VARCHAR, MODEL VARCHAR, VERSION VARCHAR)
    """

  package static let createParkedModels: SharedSQL =
    "CREATE TABLE IF NOT EXISTS PERSIST_PARKED_MODELS (DIGEST VARCHAR PRIMARY KEY, CONTENT \(.bytes))"

  package static let createParkedPairs: SharedSQL = """
    CREATE TABLE IF NOT EXISTS PERSIST_PARKED_PAIRS (SLOT \(.integer), OWNER \(.integer), MEMBER \(.integer), \
    PLACE \(.integer), INVERSEPLACE \(.integer), STANDIN \(.integer), PRIMARY KEY (SLOT, OWNER, MEMBER))
    """

  /// A table of its own, because stores of earlier versions of Persist have none. Times are in seconds since 2001.
  package static let createParkedStates: SharedSQL = """
    CREATE TABLE IF NOT EXISTS PERSIST_PARKED_STATES (SLOT \(.integer) PRIMARY KEY, TIME BIGINT, \
    MIGRATIONS \(.integer), TABLENAME VARCHAR, COLUMNNAME VARCHAR, ENTITYNUMBER \(.integer))
    """

  package static func dropParking(_ table: String) -> SharedSQL { "DROP TABLE IF EXISTS \(name: table)" }

  /// - Parameter hasStates: Whether the store has the table of states, which earlier versions of Persist didn't create.
  package static func parkedSlots(hasStates: Bool) -> SharedSQL {
    let slots: SharedSQL = "SELECT p.SLOT, p.KIND, p.ENTITY, p.PROPERTY, p.ELEMENTS, p.MODEL, p.VERSION"
    return hasStates
      ? """
      \(slots), s.TABLENAME, s.COLUMNNAME, s.ENTITYNUMBER FROM PERSIST_PARKED AS p \
      LEFT JOIN PERSIST_PARKED_STATES AS s ON s.SLOT = p.SLOT ORDER BY p.SLOT
      """ : "\(slots), NULL, NULL, NULL FROM PERSIST_PARKED AS p ORDER BY p.SLOT"
  }

  package static func addParkedSlot(_ slot: ParkedSlot) -> SharedSQL {
    """
    INSERT INTO PERSIST_PARKED (SLOT, KIND, ENTITY, PROPERTY, ELEMENTS, MODEL, VERSION) \
    VALUES (\(number: Int64(slot.number)), \(value: .text(slot.kind.rawValue)), \(value: .text(slot.entity)), \
    \(value: .text(slot.property)), \(value: .text(slot.elements)), \(value: .text(slot.model)), \
    \(value: .text(slot.version)))
    """
  }

  package static func parkedModel(_ digest: String) -> SharedSQL {
    "SELECT CONTENT FROM PERSIST_PARKED_MODELS WHERE DIGEST = \(value: .text(digest))"
  }

  package static func addParkedModel(_ digest: String, _ content: SQLValue) -> SharedSQL {
    """
    \(.insertNew) PERSIST_PARKED_MODELS (DIGEST, CONTENT) VALUES (\(value: .text(digest)), \(value: content))
    """
  }

  package static let removeUnusedParkedModels: SharedSQL =
    "DELETE FROM PERSIST_PARKED_MODELS WHERE DIGEST NOT IN (SELECT MODEL FROM PERSIST_PARKED)"

  static func contents(_ slot: ParkedSlot) -> SharedSQL {
    slot.kind == .relationship ? "PERSIST_PARKED_PAIRS" : "PERSIST_PARKED_VALUES"
  }

  package static func removeParkedSlot(_ slot: ParkedSlot) -> [SharedSQL] {
    [
      "DELETE FROM \(contents(slot)) WHERE SLOT = \(number: Int64(slot.number))",
      "DELETE FROM PERSIST_PARKED_STATES WHERE SLOT = \(number: Int64(slot.number))",
      "DELETE FROM PERSIST_PARKED WHERE SLOT = \(number: Int64(slot.number))",
    ]
  }

  package static let removeEmptyParkedSlots: SharedSQL = """
    DELETE FROM PERSIST_PARKED WHERE SLOT NOT IN (SELECT SLOT FROM PERSIST_PARKED_VALUES) \
    AND SLOT NOT IN (SELECT SLOT FROM PERSIST_PARKED_PAIRS) \
    AND SLOT NOT IN (SELECT SLOT FROM PERSIST_PARKED_STATES WHERE COLUMNNAME IS NOT NULL)
    """
}
