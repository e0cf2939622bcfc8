import CSQLiteForBenchmarks
import Foundation

/// The machine that the benchmarks run on, in words.
enum Machine {
  static var description: String {
    let process = ProcessInfo.processInfo
    return [
      processor, "\(process.activeProcessorCount) cores", "\(process.physicalMemory >> 30) GB",
      process.operatingSystemVersionString, "SQLite \(String(cString: sqlite3_libversion()))",
    ].compactMap { $0 }.joined(separator: ", ")
  }

  /// Nil where the system doesn't tell in the way that Linux does.
  private static var processor: String? {
    let information = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
    let line = information?.split(separator: "\n").first { $0.hasPrefix("model name") }
    return line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
  }
}
