import CSQLiteForBenchmarks
import Foundation

/// A description of the machine on which the benchmarks run.
enum Machine {
  static var description: String {
    let process = ProcessInfo.processInfo
    return [
      SystemFile.value("model name", in: "/proc/cpuinfo"), "\(process.activeProcessorCount) cores",
      "\(process.physicalMemory >> 30) GB", process.operatingSystemVersionString,
      "SQLite \(String(cString: sqlite3_libversion()))",
    ].compactMap { $0 }.joined(separator: ", ")
  }
}
