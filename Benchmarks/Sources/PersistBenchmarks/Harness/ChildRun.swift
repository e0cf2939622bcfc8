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
    /// Does nothing but the work, for a profiler.
    case profile
    /// Only prepares the work, for a profiler that subtracts this run from the other.
    case preparation
  }

  /// Does the work and prints its measurement as a line of JSON.
  static func perform(
    _ workload: Workload, _ part: Workload.Part, _ setting: Workload.Setting, _ mode: Mode
  ) throws {
    let counter = mode == .count ? StatementCounter() : nil
    // Reading the environment, a tenth of the instructions of opening a store, isn't a contestant's work.
    _ = BenchmarkKey.isUsed
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
    let checksum = mode == .preparation ? 0 : try work()
    let elapsed = start.duration(to: clock.now)
    var measurement = Measurement(
      seconds: elapsed / .seconds(1), peakBytes: max(0, ProcessMemory.peak - memory),
      statements: counter.map { $0.count - statements }, readChecksum: checksum, fileChecksum: 0,
      pageFaults: ProcessMemory.pageFaults - faults)
    if let before = own, let after = ProcessMemory.anonymous { measurement.heldBytes = after - before }
    if mode != .profile, mode != .preparation {
      measurement.fileChecksum = FileChecksum.sum(of: workload.writtenTables, in: setting.file)
    }
    print(String(decoding: try JSONEncoder().encode(measurement), as: UTF8.self))
  }
}
