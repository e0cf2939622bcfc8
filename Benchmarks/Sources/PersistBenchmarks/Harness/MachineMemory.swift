import Foundation

/// The memory of the machine on which the benchmarks run.
enum MachineMemory {
  /// Writes once to each page of much of the free memory, and frees it.
  ///
  /// A virtual machine may get each page of its memory from the host on the page's first use. That took 10 µs per page
  /// where later uses took 1 to 2 (measured), and whichever contestant happened to use a page first paid for it. The
  /// system uses recently freed memory first, so that runs get pages that were used before.
  static func touchFree() {
    guard let available else { return }
    let size = min(available / 2, 8 << 30)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: pageSize)
    for page in stride(from: memory, to: memory + size, by: pageSize) { page.storeBytes(of: 1, as: UInt8.self) }
    memory.deallocate()
  }

  private static let pageSize = 4096

  /// The memory that can be allocated without swapping, in bytes; nil if the system doesn't report it in the way that
  /// Linux does.
  private static var available: Int? {
    let information = try? String(contentsOfFile: "/proc/meminfo", encoding: .utf8)
    let line = information?.split(separator: "\n").first { $0.hasPrefix("MemAvailable:") }
    return line?.split(separator: " ").dropFirst().first.flatMap { Int($0) }.map { $0 << 10 }
  }
}
