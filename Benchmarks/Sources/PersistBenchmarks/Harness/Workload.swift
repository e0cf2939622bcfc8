import Foundation

/// A piece of work that several contestants perform in the same way, as data.
///
/// Each contestant's part prepares the work, unmeasured, and returns the measured work. Checksums of the rows read, and
/// of the file's contents afterward, verify that all did the same.
struct Workload: Sendable {
  /// Prepares the measured work.
  typealias Part = @Sendable (_ setting: Setting) throws -> Work
  /// The measured work; its result is a checksum of the rows read, 0 for none.
  typealias Work = () throws -> UInt64

  /// The location and size of the work.
  struct Setting {
    /// A file for this run: missing, or a copy of the store with which the workload starts.
    let file: URL
    let rows: Int
    /// The number of rows in the store, if it differs from that of the work.
    let storeRows: Int
  }

  /// The basis of comparison for the target.
  enum Measure: Sendable, Equatable {
    /// The median time relative to plain SQLite's.
    case timeOverSQLite
    /// The median time relative to that of the same work with fewer registered objects.
    case timeOverFewer(registered: Int)
    /// The median time relative to that of ``Workload/basis``.
    case timeOverBasis
    /// The increase of the process's own memory per row, while the results are retained.
    case heldBytesPerRow
    /// The median time, for work without a counterpart in plain SQLite.
    case milliseconds
  }

  let name: String
  /// A description of the work, for the table of results.
  let summary: String
  var rows = 200_000
  /// The target: the maximum value of ``measure``.
  let target: Double
  /// The maximum growth of the process's memory; nil for no target.
  var peakTarget: Int?
  var measure = Measure.timeOverSQLite
  let start: StartingStore
  /// The number of rows in the store for each row of the work.
  var storeRowsPerRow = 1
  /// Whether the work is performed once before, in the same process, unmeasured.
  var isWarm = false
  /// Whether the work grows with the number of rows.
  var scales = true
  /// The minimum number of runs: more for work of a millisecond.
  var leastRounds = 1
  /// The tables whose contents are compared afterward; none if the work only reads.
  var writtenTables: [String] = []
  let parts: [Contestant: Part]
  /// The same work of Persist's without what is measured, for ``Measure/timeOverBasis``.
  var basis: Part?
  /// The reason why the target is missed, if it is.
  var shortfall: String?

  var contestants: [Contestant] { Contestant.allCases.filter { parts[$0] != nil } }

  func setting(file: URL, rows: Int) -> Setting {
    var storeRows = rows * storeRowsPerRow
    if case .timeOverFewer = measure { storeRows = max(storeRows, self.rows) }
    return Setting(file: file, rows: rows, storeRows: storeRows)
  }
}

/// The contestants of a workload.
enum Contestant: String, Codable, CaseIterable, CodingKeyRepresentable {
  case persist = "Persist"
  case sqlite = "SQLite"
  case grdb = "GRDB"
}
