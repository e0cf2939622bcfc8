/// The results of one run of one workload by one contestant.
struct Measurement: Codable {
  var seconds: Double
  /// The increase of the process's peak memory since the beginning of the work.
  var peakBytes: Int
  /// The increase of the process's own memory, with the results of the work still retained; nil if the platform doesn't
  /// report it.
  var heldBytes: Int?
  /// The number of statements that SQLite ran; only counted in a separate run.
  var statements: Int?
  /// A checksum of everything that was read.
  var readChecksum: UInt64
  /// A checksum of the tables that the workload writes.
  var fileChecksum: UInt64
  /// The number of pages of memory that were touched for the first time.
  var pageFaults: Int
}
