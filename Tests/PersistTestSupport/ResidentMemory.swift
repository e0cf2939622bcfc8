import Foundation

/// The process's memory in use, if the system reports it.
public enum ResidentMemory {
  /// Nil if it isn't known: then only objects are counted.
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
