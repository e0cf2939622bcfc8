import CSQLiteForBenchmarks
import Foundation

/// One run in a process of its own, so that no contestant meets another's heap.
enum ChildRun {
  /// Does the work and prints its measurement as a line of JSON.
  static func perform(_ workload: Workload, _ contestant: Contestant, setting: Workload.Setting, counting: Bool) throws {
    let part = workload.part(contestant.parts)
    let counter = counting ? StatementCounter() : nil
    if workload.isWarm {
      for _ in 0..<2 { _ = try part(setting)() }
    }
    let work = try part(setting)
    let before = peakMemory()
    let statementsBefore = counter?.count ?? 0
    let clock = ContinuousClock()
    let start = clock.now
    let checksum = try work()
    let elapsed = start.duration(to: clock.now)
    let measurement = Measurement(
      seconds: Double(elapsed.components.attoseconds) / 1e18 + Double(elapsed.components.seconds),
      peakBytes: max(0, peakMemory() - before), statements: counter.map { $0.count - statementsBefore },
      checksum: checksum)
    print(String(decoding: try JSONEncoder().encode(measurement), as: UTF8.self))
  }

  /// The most memory that the process ever held, in bytes (`VmHWM`).
  private static func peakMemory() -> Int {
    guard let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
      let line = status.split(separator: "\n").first(where: { $0.hasPrefix("VmHWM:") }),
      let kilobytes = line.split(whereSeparator: { !$0.isNumber }).first.flatMap({ Int($0) })
    else { return 0 }
    return kilobytes * 1024
  }
}

/// Counts the statements that SQLite runs on every connection of this process.
///
/// SQLite calls the extension on each new connection, which is then traced. All contestants use the same library, so
/// all are counted alike.
final class StatementCounter {
  // Contestants run on one thread at a time; a count that is one off would not change what it is read for.
  nonisolated(unsafe) private static var total = 0

  init() {
    let entry: @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?, UnsafeRawPointer?) -> Int32 = { handle, _, _ in
      sqlite3_trace_v2(
        handle, UInt32(SQLITE_TRACE_STMT),
        { _, _, _, _ in
          StatementCounter.total += 1
          return 0
        }, nil)
    }
    // SQLite declares the entry point without parameters and calls it with those of an extension.
    sqlite3_auto_extension(unsafeBitCast(entry, to: (@convention(c) () -> Void).self))
  }

  var count: Int { Self.total }
}
