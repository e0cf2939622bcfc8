/// Statements about attached entries that a file runs often: their values are parameters.
extension SQLText {
  /// Key and content of the entries from a key on, in order.
  package static let attachedEntriesOn: SQLText =
    "SELECT NAME, CONTENT FROM \(name: SharedSQL.attachedTable) WHERE NAME >= \(parameter: ()) ORDER BY NAME"

  /// Content of entries, with the places of their keys among the parameters, in this order. A parameter without a key
  /// is null, which equals none.
  package static func attachedContents(count: Int) -> SQLText {
    let keys = (0..<count).map { "(\(number: Int64($0)), \(parameter: ()))" as SQLText }.joined(separator: ", ")
    return """
      WITH KEYS (PLACE, KEY) AS (VALUES \(keys)) \
      SELECT PLACE, CONTENT FROM KEYS CROSS JOIN \(name: SharedSQL.attachedTable) WHERE NAME = KEY
      """
  }

  /// Writes a number of entries: their keys and contents alternate among the parameters.
  package static func setAttachedEntries(count: Int) -> SQLText {
    let rows = repeatElement("(\(parameters: 2))" as SQLText, count: count).joined(separator: ", ")
    return """
      INSERT INTO \(name: SharedSQL.attachedTable) (NAME, CONTENT) VALUES \(rows) \
      ON CONFLICT (NAME) DO UPDATE SET CONTENT = excluded.CONTENT
      """
  }
}
