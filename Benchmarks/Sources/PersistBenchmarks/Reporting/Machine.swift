import CSQLiteForBenchmarks
import Foundation

/// A description of the machine on which the benchmarks run.
enum Machine {
  static var description: String {
    let process = ProcessInfo.processInfo
    return [
      processor, "\(process.activeProcessorCount) cores", "\(process.physicalMemory >> 30) GB",
      process.operatingSystemVersionString, "SQLite \(String(cString: sqlite3_libversion()))",
    ].compactMap { $0 }.joined(separator: ", ")
  }

  /// Nil if the system doesn't report it in the way that Linux does.
  private static var processor: String? {
    let information = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
    let line = information?.split(separator: "\n").first { $0.hasPrefix("model name") }
    return line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
  }
}
