import Foundation

/// The table of entries that a product keeps in a store: see ``AttachedEntries``.
extension SQLText {
  static let attachedTable = "PERSIST_SYNC"
  private static let attached: SQLText = "\(name: attachedTable)"

  static let createAttachedTable: SQLText = """
    CREATE TABLE IF NOT EXISTS \(attached) (NAME BLOB PRIMARY KEY, CONTENT BLOB NOT NULL) WITHOUT ROWID
    """

  /// Key and content of the entries in a range, in order.
  static func attachedEntries(in range: AttachedRange, limit: Int) -> SQLText {
    """
    SELECT NAME, CONTENT FROM \(attached) WHERE NAME >= \(value: .blob(range.first)) \
    AND NAME < \(value: .blob(range.end)) ORDER BY NAME LIMIT \(value: .integer(Int64(limit)))
    """
  }

  static func setAttachedEntry(_ key: Data, _ value: Data) -> SQLText {
    """
    INSERT INTO \(attached) (NAME, CONTENT) VALUES (\(value: .blob(key)), \(value: .blob(value))) \
    ON CONFLICT (NAME) DO UPDATE SET CONTENT = excluded.CONTENT
    """
  }

  static func removeAttachedEntry(_ key: Data) -> SQLText {
    "DELETE FROM \(attached) WHERE NAME = \(value: .blob(key))"
  }
}
