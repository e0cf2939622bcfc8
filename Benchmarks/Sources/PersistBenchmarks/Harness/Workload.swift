import Foundation

/// A piece of work that several contestants do in the same way, as data.
///
/// Each contestant's part prepares what isn't measured, and returns the measured work. Whether all did the same is
/// checked by sums over what they read, and over what is in the file afterwards.
struct Workload: Sendable {
  /// Prepares the measured work.
  typealias Part = @Sendable (_ setting: Setting) throws -> Work
  /// What is measured; its result sums up what was read, 0 for nothing.
  typealias Work = () throws -> UInt64

  /// Where and how much.
  struct Setting {
    /// A file of the run's own: none yet, or a copy of the store that the workload starts with.
    let file: URL
    let rows: Int
    /// How many rows the store has, where it has another number than the work takes.
    let storeRows: Int
  }

  /// What the target is compared with.
  enum Measure: Sendable, Equatable {
    /// The median time over plain SQLite's.
    case timeOverSQLite
    /// The median time over that of the same work with fewer registered objects.
    case timeOverFewer(registered: Int)
    /// Growth of the heap per row, while the results are held.
    case heapBytesPerRow
    /// The median time, for work that plain SQLite has no counterpart of.
    case milliseconds
  }

  let name: String
  /// What is done, for the table of results.
  let summary: String
  var rows = 200_000
  /// The greatest value of ``measure`` that is aimed at.
  let target: Double
  /// The greatest growth of the process's memory that is aimed at; nil for none.
  var peakTarget: Int?
  var measure = Measure.timeOverSQLite
  let start: StartingStore
  /// How many rows the store has for each row of the work.
  var storeRowsPerRow = 1
  /// Whether the work is done before, in the same process, unmeasured.
  var isWarm = false
  /// Whether the work grows with the number of rows.
  var scales = true
  /// How many runs there are at least: more for work of a millisecond.
  var leastRounds = 1
  /// The tables whose content is compared afterwards; none where the work only reads.
  var writtenTables: [String] = []
  let parts: [Contestant: Part]
  /// Why the target is missed, where it is.
  var shortfall: String?

  var contestants: [Contestant] { Contestant.allCases.filter { parts[$0] != nil } }

  func setting(file: URL, rows: Int) -> Setting {
    var storeRows = rows * storeRowsPerRow
    if case .timeOverFewer = measure { storeRows = max(storeRows, self.rows) }
    return Setting(file: file, rows: rows, storeRows: storeRows)
  }
}

/// Who runs a workload.
enum Contestant: String, Codable, CaseIterable, CodingKeyRepresentable {
  case persist = "Persist"
  case sqlite = "SQLite"
  case grdb = "GRDB"
}
