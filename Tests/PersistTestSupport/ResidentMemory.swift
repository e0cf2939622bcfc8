import Foundation

/// The memory that the process has in use, where the system tells it.
public enum ResidentMemory {
  /// Nil where it can't be told: there only objects are counted.
  public static var bytes: Int? {
    #if os(Linux)
      guard let text = try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8),
        let pages = text.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
      else { return nil }
      return pages * sysconf(Int32(_SC_PAGESIZE))
    #else
      return nil
    #endif
  }
}
