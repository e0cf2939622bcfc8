/// The memory of the machine on which the benchmarks run.
enum MachineMemory {
  /// Writes once to each page of much of the free memory, and frees it.
  ///
  /// A virtual machine may get each page of its memory from the host on the page's first use. That took 10 µs per page
  /// where later uses took 1 to 2 (measured), and whichever contestant happened to use a page first paid for it. The
  /// system uses recently freed memory first, so that runs get pages that were used before.
  static func touchFree() {
    // The memory that can be allocated without swapping.
    guard let available = SystemFile.bytes("MemAvailable", in: "/proc/meminfo") else { return }
    let size = min(available / 2, 8 << 30)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: pageSize)
    for page in stride(from: memory, to: memory + size, by: pageSize) { page.storeBytes(of: 1, as: UInt8.self) }
    memory.deallocate()
  }

  private static let pageSize = 4096
}
