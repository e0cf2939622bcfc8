/// The tables in which a store remembers its exchange with others.
extension SQLText {
  static let exchangeEntryTable = "PERSIST_EXCHANGE_ENTRIES"
  private static let entries: SQLText = "\(name: exchangeEntryTable)"
  static let exchangeRowTable = "PERSIST_EXCHANGE_ROWS"
  private static let rows: SQLText = "\(name: exchangeRowTable)"
  static let exchangePositionTable = "PERSIST_EXCHANGE_POSITION"
  private static let positions: SQLText = "\(name: exchangePositionTable)"

  static let createExchangeTables: [SQLText] = [
    """
    CREATE TABLE IF NOT EXISTS \(entries) (IDENTITY VARCHAR NOT NULL, PROPERTY VARCHAR NOT NULL, \
    MEMBER VARCHAR NOT NULL, TIME FLOAT NOT NULL, STORE VARCHAR NOT NULL, PRESENT INTEGER NOT NULL, \
    REFERENCE VARCHAR, PRIMARY KEY (IDENTITY, PROPERTY, MEMBER)) WITHOUT ROWID
    """,
    """
    CREATE INDEX IF NOT EXISTS PERSIST_EXCHANGE_REFERENCES ON \(entries) (REFERENCE) WHERE REFERENCE IS NOT NULL
    """,
    """
    CREATE TABLE IF NOT EXISTS \(rows) (IDENTITY VARCHAR PRIMARY KEY, ENTITY VARCHAR NOT NULL, \
    ROWKEY INTEGER NOT NULL, UNIQUE (ENTITY, ROWKEY))
    """,
    "CREATE TABLE IF NOT EXISTS \(positions) (ID INTEGER PRIMARY KEY, NUMBER INTEGER NOT NULL)",
  ]

  /// Identity, property, member, time, store, presence and reference.
  private static let entryColumns: SQLText = "SELECT IDENTITY, PROPERTY, MEMBER, TIME, STORE, PRESENT, REFERENCE"

  static func exchangeEntries(of identity: String) -> SQLText {
    "\(entryColumns) FROM \(entries) WHERE IDENTITY = \(value: .text(identity))"
  }

  static func exchangeEntries(referringTo identity: String) -> SQLText {
    "\(entryColumns) FROM \(entries) WHERE REFERENCE = \(value: .text(identity))"
  }

  /// Keeps an entry that is newer, because another process may have written it.
  static func setExchangeEntry(_ entry: ExchangeEntry) -> SQLText {
    """
    INSERT INTO \(entries) AS e (IDENTITY, PROPERTY, MEMBER, TIME, STORE, PRESENT, REFERENCE) \
    VALUES (\(value: .text(entry.identity)), \(value: .text(entry.part.property)), \
    \(value: .text(entry.part.member)), \(value: .double(entry.clock.time)), \(value: .text(entry.clock.store)), \
    \(value: .integer(entry.isPresent ? 1 : 0)), \(value: entry.reference.map(SQLValue.text) ?? .null)) \
    ON CONFLICT (IDENTITY, PROPERTY, MEMBER) DO UPDATE SET TIME = excluded.TIME, STORE = excluded.STORE, \
    PRESENT = excluded.PRESENT, REFERENCE = excluded.REFERENCE \
    WHERE (excluded.TIME, excluded.STORE) >= (e.TIME, e.STORE)
    """
  }

  static func exchangeIdentity(ofEntity entity: String, key: Int64) -> SQLText {
    "SELECT IDENTITY FROM \(rows) WHERE ENTITY = \(value: .text(entity)) AND ROWKEY = \(value: .integer(key))"
  }

  /// Entity and key.
  static func exchangeRow(of identity: String) -> SQLText {
    "SELECT ENTITY, ROWKEY FROM \(rows) WHERE IDENTITY = \(value: .text(identity))"
  }

  /// Replaces what is known of the identity and of the row.
  static func setExchangeRow(_ row: ExchangeRow) -> [SQLText] {
    [
      """
      DELETE FROM \(rows) WHERE IDENTITY = \(value: .text(row.identity)) \
      OR (ENTITY = \(value: .text(row.entity)) AND ROWKEY = \(value: .integer(row.key)))
      """,
      """
      INSERT INTO \(rows) (IDENTITY, ENTITY, ROWKEY) \
      VALUES (\(value: .text(row.identity)), \(value: .text(row.entity)), \(value: .integer(row.key)))
      """,
    ]
  }

  static let exchangePosition: SQLText = "SELECT NUMBER FROM \(positions)"

  static func setExchangePosition(_ number: Int64) -> SQLText {
    """
    INSERT INTO \(positions) AS p (ID, NUMBER) VALUES (1, \(value: .integer(number))) \
    ON CONFLICT (ID) DO UPDATE SET NUMBER = excluded.NUMBER WHERE excluded.NUMBER > p.NUMBER
    """
  }
}
