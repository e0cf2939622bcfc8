import Foundation

/// One run in a separate process, so that no contestant is affected by another's heap.
enum ChildRun {
  /// The purpose of a run.
  enum Mode: String {
    case time
    /// Counts statements, which takes time.
    case count
    /// Performs the work that the target is relative to.
    case basis
  }

  /// Does the work and prints its measurement as a line of JSON.
  static func perform(
    _ workload: Workload, _ part: Workload.Part, _ setting: Workload.Setting, counting: Bool
  ) throws {
    let counter = counting ? StatementCounter() : nil
    if workload.isWarm {
      for _ in 0..<2 { _ = try part(setting)() }
    }
    let work = try part(setting)
    ProcessMemory.resetPeak()
    let (memory, own) = (ProcessMemory.resident, ProcessMemory.anonymous)
    let statements = counter?.count ?? 0
    let faults = ProcessMemory.pageFaults
    let clock = ContinuousClock()
    let start = clock.now
    let checksum = try measured(work)
    let elapsed = start.duration(to: clock.now)
    var measurement = Measurement(
      seconds: elapsed / .seconds(1), peakBytes: max(0, ProcessMemory.peak - memory),
      statements: counter.map { $0.count - statements }, readChecksum: checksum, fileChecksum: 0,
      pageFaults: ProcessMemory.pageFaults - faults)
    if let before = own, let after = ProcessMemory.anonymous { measurement.heldBytes = after - before }
    measurement.fileChecksum = FileChecksum.sum(of: workload.writtenTables, in: setting.file)
    print(String(decoding: try JSONEncoder().encode(measurement), as: UTF8.self))
  }

  /// A part of the symbol of ``measured(_:)``, and of no other one.
  static let measuredSymbol = "8ChildRunO8measured"

  /// Performs the measured work. Not inlined, so that a profiler can leave out everything else.
  @inline(never)
  private static func measured(_ work: Workload.Work) throws -> UInt64 { try work() }
}
