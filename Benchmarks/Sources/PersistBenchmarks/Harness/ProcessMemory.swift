import Foundation

/// The memory used by this process.
enum ProcessMemory {
  /// Resets the peak, if the system lets a process do so.
  static func resetPeak() {
    #if os(Linux)
      try? Data("5".utf8).write(to: URL(fileURLWithPath: "/proc/self/clear_refs"))
    #endif
  }

  /// The process's current memory, in bytes.
  static var resident: Int { status("VmRSS") ?? peak }

  /// The process's peak memory, in bytes.
  static var peak: Int {
    #if canImport(Darwin)
      var usage = rusage()
      getrusage(RUSAGE_SELF, &usage)
      return usage.ru_maxrss
    #else
      return status("VmHWM") ?? 0
    #endif
  }

  /// The process's own memory that is in use, without mapped files, in bytes; nil if the platform doesn't report it.
  ///
  /// The allocator's figures would count address space that was reserved to align large blocks, and never touched.
  static var anonymous: Int? { status("RssAnon") }

  /// The number of page faults of this process.
  static var pageFaults: Int {
    var usage = rusage()
    #if canImport(Darwin)
      getrusage(RUSAGE_SELF, &usage)
    #else
      getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    #endif
    return usage.ru_minflt
  }

  private static func status(_ name: String) -> Int? { SystemFile.bytes(name, in: "/proc/self/status") }
}
