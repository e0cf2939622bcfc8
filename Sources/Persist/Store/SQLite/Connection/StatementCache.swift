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

  /// The statement for a text, for exclusive use until it is put back; nil if there is none, or if it is in use.
  func take(_ text: String) -> SQLiteStatement? {
    guard let statement = byText[text], !statement.isInUse else { return nil }
    statement.isInUse = true
    return statement
  }

  /// Ends the exclusive use of a statement, and keeps or finalizes one that isn't cached.
  mutating func putBack(_ statement: SQLiteStatement, for text: String) {
    if statement.isInUse {
      statement.isInUse = false
      return
    }
    guard SQLText.isWorthKeeping(text), byText[text] == nil else { return statement.finalize() }
    if byText.count >= Self.textCapacity {
      for old in byText.values where !old.isInUse { old.finalize() }
      byText = byText.filter { $0.value.isInUse }
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
