/// The costs of a migration's parts, so that its progress follows time.
///
/// The unit is an eleventh of the time in which SQLite adds an entry to an index of a table of 1,000,000 rows: about 20
/// nanoseconds. Measured on a solid-state disk with tables of ten columns.
package enum WorkCost {
  /// The costs of a migration in place besides its changes.
  package struct InPlace: Sendable {
    /// The checks of a row before the work begins.
    let checkedRow: Int64
    /// A row that is written anew.
    package let rewrittenRow: Int64
    /// The entries of indexes that begin with the key, with a number and with a text.
    package let keyEntry: Int64
    package let indexEntry: Int64
    package let textEntry: Int64
    /// Whether the progress of rewriting is known in rows and then in entries of indexes, or only as a fraction.
    let countsEntries: Bool
    /// A row of a table that is dropped afterward, whose pages the log or the journal keeps.
    let droppedRow: Int64
    /// The verification of a row after the changes.
    let verifiedRow: Int64
    /// A page in the log that the commit moves into the database.
    let committedPage: Int64
  }

  /// Rows are in the order of their keys.
  static let inFile = InPlace(
    checkedRow: 5, rewrittenRow: 19, keyEntry: 0, indexEntry: indexEntry, textEntry: indexEntry, countsEntries: true,
    droppedRow: 16, verifiedRow: 0, committedPage: 320)
  /// A server compares texts by the rules of a language, and writes most of the pages before the commit.
  package static let onServer = InPlace(
    checkedRow: 13, rewrittenRow: 15, keyEntry: 7, indexEntry: 14, textEntry: 29, countsEntries: false,
    droppedRow: 0, verifiedRow: 12, committedPage: 15)
  /// A row that is counted and read before a copy begins.
  static let preparedRow: Int64 = 12
  /// A row that SQL copies to a new file, without its index entries.
  static let copiedRow: Int64 = 16
  /// A value or a pair that changes in the store itself.
  static let changedRow: Int64 = 12
  static let indexEntry: Int64 = 11
  /// The size of such an entry in the log.
  static let bytesOfEntry: Int64 = 16
  /// An indexed text, with the entries of its words.
  static let indexedText: Int64 = 100
  /// A page of a new file that replaces one of the store's.
  static let exchangedPage: Int64 = 680
  // Swift code takes many times longer in an unoptimized build.
  #if DEBUG
    /// A row that is read from a server.
    static let fetchedRow: Int64 = 610
    /// A row that is sent to a server, with its index entries.
    static let sentRow: Int64 = 600
    /// A row on a server that is related and checked once all rows are there.
    static let completedRow: Int64 = 250
    static let createdObject: Int64 = 800
    static let relatedMember: Int64 = 1000
  #else
    static let fetchedRow: Int64 = 830
    static let sentRow: Int64 = 960
    static let completedRow: Int64 = 480
    static let createdObject: Int64 = 900
    static let relatedMember: Int64 = 550
  #endif

  /// The cost of pages with so many bytes.
  static func pages(ofSize bytes: Int, each cost: Int64) -> Int64 { Int64(bytes / 4096) * cost }

  /// The cost of what takes so long.
  static func of(_ duration: Duration) -> Int64 { Int64(min(duration / .nanoseconds(20), Double(1 << 50))) }

  /// The product, limited so that sums don't overflow: keys, which stand for numbers of rows, can be arbitrary.
  static func of(_ count: Int64, each cost: Int64) -> Int64 {
    let (product, isTooLarge) = max(count, 0).multipliedReportingOverflow(by: cost)
    return isTooLarge ? 1 << 50 : min(product, 1 << 50)
  }
}
