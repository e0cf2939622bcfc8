/// The prepared statements of one connection.
struct StatementCache {
  /// The maximum number of statements cached by text.
  private static let textCapacity = 200

  /// A statement, with its SQL, which callers may still reference.
  private struct Entry {
    var sql: PreparedSQL
    var statement: SQLiteStatement
  }

  /// By the addresses of the SQL, as integers: the first dictionary of a process with other keys takes half a million
  /// instructions, a tenth of a first save.
  private var byIdentity: [Int: Entry] = Dictionary()
  private var byText: [String: SQLiteStatement] = Dictionary()
  /// The number of statements cached by identity at which unused ones are finalized.
  private var sweepingCount = 400

  /// The number of statements.
  var count: Int { byIdentity.count + byText.count }

  private static func identity(_ sql: PreparedSQL) -> Int { Int(bitPattern: ObjectIdentifier(sql)) }

  func statement(_ sql: PreparedSQL) -> SQLiteStatement? { byIdentity[Self.identity(sql)]?.statement }

  mutating func keep(_ statement: SQLiteStatement, for sql: PreparedSQL) {
    if byIdentity.count >= sweepingCount { finalizeUseless() }
    byIdentity[Self.identity(sql)] = Entry(sql: sql, statement: statement)
  }

  /// Finalizes the statements that aren't referenced elsewhere, and whose SQL isn't either.
  private mutating func finalizeUseless() {
    for identity in Array(byIdentity.keys) {
      guard let index = byIdentity.index(forKey: identity),
        isKnownUniquelyReferenced(&byIdentity.values[index].sql),
        isKnownUniquelyReferenced(&byIdentity.values[index].statement)
      else { continue }
      byIdentity.remove(at: index).value.statement.finalize()
    }
    sweepingCount = max(sweepingCount, 2 * byIdentity.count)
  }

  /// The statement for a text, for exclusive use until it is put back; nil if there is none, or if it is in use.
  func take(_ text: String) -> SQLiteStatement? {
    guard let statement = byText[text], !statement.isInUse else { return nil }
    statement.isInUse = true
    return statement
  }

  /// Ends the exclusive use of a statement, and keeps or finalizes one that isn't cached.
  @inline(never)
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
    byIdentity = Dictionary()
    byText = Dictionary()
  }
}
