/// Statements about attached entries that a file runs often: their values are parameters.
extension SQLText {
  /// Key and content of the entries from a key on, in order.
  package static let attachedEntriesOn: SQLText =
    "SELECT NAME, CONTENT FROM \(name: SharedSQL.attachedTable) WHERE NAME >= \(parameter: ()) ORDER BY NAME"

  /// Writes a number of entries: their keys and contents alternate among the parameters.
  package static func setAttachedEntries(count: Int) -> SQLText {
    let rows = repeatElement("(\(parameters: 2))" as SQLText, count: count).joined(separator: ", ")
    return """
      INSERT INTO \(name: SharedSQL.attachedTable) (NAME, CONTENT) VALUES \(rows) \
      ON CONFLICT (NAME) DO UPDATE SET CONTENT = excluded.CONTENT
      """
  }
}
