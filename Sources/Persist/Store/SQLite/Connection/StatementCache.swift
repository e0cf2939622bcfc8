/// The prepared statements of one connection.
struct StatementCache {
  /// The maximum number of statements cached by text.
  private static let textCapacity = 200

  private var byIdentity: [ObjectIdentifier: (sql: PreparedSQL, statement: SQLiteStatement)] = [:]
  private var byText: [String: SQLiteStatement] = [:]

  func statement(_ sql: PreparedSQL) -> SQLiteStatement? { byIdentity[ObjectIdentifier(sql)]?.statement }

  mutating func keep(_ statement: SQLiteStatement, for sql: PreparedSQL) {
    byIdentity[ObjectIdentifier(sql)] = (sql, statement)
  }

  /// Removes a statement from the cache for exclusive use.
  mutating func take(_ text: String) -> SQLiteStatement? { byText.removeValue(forKey: text) }

  /// Returns a statement to the cache, or finalizes it if it won't be reused.
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
