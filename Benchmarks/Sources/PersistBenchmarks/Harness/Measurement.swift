/// What one run of one workload by one contestant gave.
struct Measurement: Codable {
  var seconds: Double
  /// How far the process's peak memory rose above what it had when the work began.
  var peakBytes: Int
  /// Growth of the heap, with the results of the work still held; nil where the platform doesn't tell.
  var heapBytes: Int?
  /// Statements that SQLite ran; only counted in a run of its own.
  var statements: Int?
  /// Over everything that was read.
  var readChecksum: UInt64
  /// Over what is in the tables afterwards that the workload writes.
  var fileChecksum: UInt64
}
