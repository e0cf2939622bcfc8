package import Foundation

/// The table of entries that a product keeps in a store: see ``AttachedEntries``.
extension SQLText {
  package static let attachedTable = "PERSIST_SYNC"
  private static let attached: SQLText = "\(name: attachedTable)"

  package static let createAttachedTable: SQLText = """
    CREATE TABLE IF NOT EXISTS \(attached) (NAME BLOB PRIMARY KEY, CONTENT BLOB NOT NULL) WITHOUT ROWID
    """

  /// Key and content of the entries in a range, in order.
  package static func attachedEntries(in range: AttachedRange, limit: Int) -> SQLText {
    """
    SELECT NAME, CONTENT FROM \(attached) WHERE NAME >= \(value: .blob(range.first)) \
    AND NAME < \(value: .blob(range.end)) ORDER BY NAME LIMIT \(value: .integer(Int64(limit)))
    """
  }

  /// Key and content of the entries from a key on, in order.
  package static let attachedEntriesOn: SQLText =
    "SELECT NAME, CONTENT FROM \(attached) WHERE NAME >= \(parameter: ()) ORDER BY NAME"

  /// Writes a number of entries: their keys and contents alternate among the parameters.
  package static func setAttachedEntries(count: Int) -> SQLText {
    let rows = repeatElement("(\(parameters: 2))" as SQLText, count: count).joined(separator: ", ")
    return """
      INSERT INTO \(attached) (NAME, CONTENT) VALUES \(rows) \
      ON CONFLICT (NAME) DO UPDATE SET CONTENT = excluded.CONTENT
      """
  }

  /// The maximum number of ranges or entries in one statement, a power of two.
  package static let greatestAttachedGroup = 64

  /// The statements for each number of ranges or entries, which are powers of two: few texts, made once.
  private static let groupTexts = {
    var reads: [Int: SQLText] = Dictionary()
    var writes: [Int: SQLText] = Dictionary()
    var values: [Int: SQLText] = Dictionary()
    var removals: [Int: SQLText] = Dictionary()
    let empty = SQLValue.blob(Data())
    var count = 1
    while count <= greatestAttachedGroup {
      reads[count] = (0..<count).map { index -> SQLText in
        """
        SELECT \(number: Int64(index)), NAME, CONTENT FROM \(attached) \
        WHERE NAME >= \(value: empty) AND NAME < \(value: empty)
        """
      }.joined(separator: " UNION ALL ")
      let rows = repeatElement("(\(value: empty), \(value: empty))" as SQLText, count: count).joined(separator: ", ")
      writes[count] = """
        INSERT INTO \(attached) (NAME, CONTENT) VALUES \(rows) \
        ON CONFLICT (NAME) DO UPDATE SET CONTENT = excluded.CONTENT
        """
      let keys = repeatElement("\(value: empty)" as SQLText, count: count).joined(separator: ", ")
      values[count] = "SELECT NAME, CONTENT FROM \(attached) WHERE NAME IN (\(keys))"
      removals[count] = "DELETE FROM \(attached) WHERE NAME IN (\(keys))"
      count *= 2
    }
    return (reads: reads, values: values, writes: writes, removals: removals)
  }()

  /// Index, key and content of the entries in each of some ranges, in no order; nil if there are too many ranges, or no
  /// power of two.
  package static func attachedEntries(in ranges: ArraySlice<AttachedRange>) -> SQLText? {
    groupTexts.reads[ranges.count]?.binding(ranges.flatMap { [.blob($0.first), .blob($0.end)] })
  }

  /// Key and content of entries, in no order; nil if there are too many keys, or no power of two.
  package static func attachedEntries(withKeys keys: ArraySlice<Data>) -> SQLText? {
    groupTexts.values[keys.count]?.binding(keys.map { .blob($0) })
  }

  package static func setAttachedEntries(_ entries: ArraySlice<AttachedEntry>) -> SQLText? {
    groupTexts.writes[entries.count]?.binding(entries.flatMap { [.blob($0.key), .blob($0.value)] })
  }

  package static func removeAttachedEntries(_ keys: ArraySlice<Data>) -> SQLText? {
    groupTexts.removals[keys.count]?.binding(keys.map { .blob($0) })
  }
}
