/// What one run of one workload by one contestant gave.
struct Measurement: Codable {
  var seconds: Double
  /// Growth of the process's peak memory during the work.
  var peakBytes: Int
  /// Statements that SQLite ran; only counted in a run of its own.
  var statements: Int?
  /// Over everything that was read, or over what is in the file afterwards; equal for all contestants.
  var checksum: UInt64
}

/// Who runs a workload.
enum Contestant: String, Codable, CaseIterable {
  case persist = "Persist"
  case sqlite = "SQLite"
  case grdb = "GRDB"
}
