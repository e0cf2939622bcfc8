package import Foundation

/// The table of entries that a product keeps in a store: see ``AttachedEntries``.
extension SharedSQL {
  package static let attachedTable = "PERSIST_SYNC"

  private static let attached: SharedSQL = "\(name: attachedTable)"

  package static let createAttachedTable: SharedSQL = """
    CREATE TABLE IF NOT EXISTS \(attached) (NAME \(.bytes) PRIMARY KEY, CONTENT \(.bytes) NOT NULL)\(.withoutRowID)
    """

  /// Key and content of the entries in a range, in order.
  package static func attachedEntries(in range: AttachedRange, limit: Int) -> SharedSQL {
    """
    SELECT NAME, CONTENT FROM \(attached) WHERE NAME >= \(value: .blob(range.first)) \
    AND NAME < \(value: .blob(range.end)) ORDER BY NAME LIMIT \(value: .integer(Int64(limit)))
    """
  }

  /// The maximum number of ranges or entries in one statement, a power of two.
  package static let greatestAttachedGroup = 64

  /// The statements for each number of ranges or entries, which are powers of two: few texts, made once.
  private static let groupTexts = {
    var reads: [Int: SharedSQL] = Dictionary()
    var writes: [Int: SharedSQL] = Dictionary()
    var values: [Int: SharedSQL] = Dictionary()
    var removals: [Int: SharedSQL] = Dictionary()
    let empty = SQLValue.blob(Data())
    var count = 1
    while count <= greatestAttachedGroup {
      reads[count] = (0..<count).map { index -> SharedSQL in
        """
        SELECT \(number: Int64(index)), NAME, CONTENT FROM \(attached) \
        WHERE NAME >= \(value: empty) AND NAME < \(value: empty)
        """
      }.joined(separator: " UNION ALL ").keepingFileText()
      let rows = repeatElement("(\(value: empty), \(value: empty))" as SharedSQL, count: count).joined(separator: ", ")
      writes[count] = """
        INSERT INTO \(attached) (NAME, CONTENT) VALUES \(rows) \
        ON CONFLICT (NAME) DO UPDATE SET CONTENT = excluded.CONTENT
        """
      let keys = repeatElement("\(value: empty)" as SharedSQL, count: count).joined(separator: ", ")
      values[count] = "SELECT NAME, CONTENT FROM \(attached) WHERE NAME IN (\(keys))"
      removals[count] = "DELETE FROM \(attached) WHERE NAME IN (\(keys))"
      count *= 2
    }
    return (
      reads: reads, values: values.mapValues { $0.keepingFileText() },
      writes: writes.mapValues { $0.keepingFileText() }, removals: removals.mapValues { $0.keepingFileText() }
    )
  }()

  /// Index, key and content of the entries in each of some ranges, in no order; nil if there are too many ranges, or no
  /// power of two.
  package static func attachedEntries(in ranges: ArraySlice<AttachedRange>) -> SharedSQL? {
    groupTexts.reads[ranges.count]?.binding(ranges.flatMap { [.blob($0.first), .blob($0.end)] })
  }

  /// Key and content of entries, in no order; nil if there are too many keys, or no power of two.
  package static func attachedEntries(withKeys keys: ArraySlice<Data>) -> SharedSQL? {
    groupTexts.values[keys.count]?.binding(keys.map { .blob($0) })
  }

  package static func setAttachedEntries(_ entries: ArraySlice<AttachedEntry>) -> SharedSQL? {
    groupTexts.writes[entries.count]?.binding(entries.flatMap { [.blob($0.key), .blob($0.value)] })
  }

  package static func removeAttachedEntries(_ keys: ArraySlice<Data>) -> SharedSQL? {
    groupTexts.removals[keys.count]?.binding(keys.map { .blob($0) })
  }
}
