/// The prepared statements of one connection.
struct StatementCache {
  /// How many statements are kept that are found by their text.
  private static let textCapacity = 200

  private var byIdentity: [ObjectIdentifier: (sql: PreparedSQL, statement: SQLiteStatement)] = [:]
  private var byText: [String: SQLiteStatement] = [:]

  func statement(_ sql: PreparedSQL) -> SQLiteStatement? { byIdentity[ObjectIdentifier(sql)]?.statement }

  mutating func keep(_ statement: SQLiteStatement, for sql: PreparedSQL) {
    byIdentity[ObjectIdentifier(sql)] = (sql, statement)
  }

  /// Takes a statement out, so that nobody else finds it meanwhile.
  mutating func take(_ text: String) -> SQLiteStatement? { byText.removeValue(forKey: text) }

  /// Keeps a statement for the next time, or finalizes it where that won't come.
  mutating func putBack(_ statement: SQLiteStatement, for text: String) {
    guard SQLText.isWorthKeeping(text), byText[text] == nil else { return statement.finalize() }
    if byText.count >= Self.textCapacity {
      for old in byText.values { old.finalize() }
      byText.removeAll()
    }
    byText[text] = statement
  }

  mutating func finalizeAll() {
    for entry in byIdentity.values { entry.statement.finalize() }
    for statement in byText.values { statement.finalize() }
    byIdentity = [:]
    byText = [:]
  }
}
