/// Memory shared by the rows of one fetch.
///
/// Rows follow one another, each with fixed slots followed by its variable-length bytes. One allocation serves hundreds
/// of objects; a chunk lives as long as any object reads from it.
///
/// A row, from its offset:
///
/// | bytes | what |
/// |---|---|
/// | 4 | the optimistic-lock counter, `Z_OPT`; see ``RowVersion`` for those that don't fit |
/// | 8 × slots | a 64-bit integer, a double, or offset (from the row) and length of variable bytes, 32 bits each |
/// | ⌈slots / 8⌉ | one bit per slot, set if the value is null |
/// | … | texts and bytes |
///
/// Rows aren't aligned, which saves 15 of some 165 bytes for rows of eight slots; processors load eight bytes from any
/// address as fast as from an aligned one, unless they are in two cache lines.
///
/// `@unchecked Sendable`: only a ``RowChunkWriter`` writes, before it returns the first snapshot of a row, and that row
/// is never written again. The rows of unsaved objects are an exception: each belongs to one context, which changes it
/// until it is saved.
@usableFromInline
package final class RowChunk: @unchecked Sendable {
  static let standardCapacity = 64 * 1024
  /// The size of the chunks that follow many standard ones: one huge page, which takes a single entry in the
  /// processor's page tables, and which the system provides in one step instead of 512.
  static let hugeCapacity = 2 * 1024 * 1024

  @usableFromInline let base: UnsafeMutableRawPointer
  let capacity: Int

  init(capacity: Int) {
    self.capacity = capacity
    base = SpareMemory.of(capacity)?.take() ?? Self.allocate(capacity)
  }

  private static func allocate(_ capacity: Int) -> UnsafeMutableRawPointer {
    capacity == hugeCapacity
      ? allocateHuge() : .allocate(byteCount: capacity, alignment: MemoryLayout<Int>.alignment)
  }

  private static func allocateHuge() -> UnsafeMutableRawPointer {
    let base = UnsafeMutableRawPointer.allocate(byteCount: hugeCapacity, alignment: hugeCapacity)
    HugePages.request(base, hugeCapacity)
    return base
  }

  deinit { if SpareMemory.of(capacity)?.add(base) != true { base.deallocate() } }

  /// The memory of freed chunks of one size, for later ones.
  ///
  /// A process that repeatedly fetches many rows would otherwise return their memory to the system and acquire it
  /// again. The system clears each page that it provides, which takes about a sixth of the time of such a fetch. Huge
  /// spare memory is marked as unused, so that the system can reclaim it without writing it to disk.
  final class SpareMemory: Sendable {
    /// At most 2 MB.
    static let standard = SpareMemory(of: standardCapacity, limit: hugeCapacity / standardCapacity)
    /// At most 32 MB.
    static let huge = SpareMemory(of: hugeCapacity, limit: 16)

    let limit: Int
    private let capacity: Int
    private let addresses = LockProtected<[UInt]>([])

    private init(of capacity: Int, limit: Int) { (self.capacity, self.limit) = (capacity, limit) }

    /// Returns the spare memory for chunks of a size; nil if there is none.
    fileprivate static func of(_ capacity: Int) -> SpareMemory? {
      switch capacity {
      case standardCapacity: standard
      case hugeCapacity: huge
      default: nil
      }
    }

    var count: Int { addresses.withLock { $0.count } }

    fileprivate func take() -> UnsafeMutableRawPointer? {
      addresses.withLock { $0.popLast() }.flatMap(UnsafeMutableRawPointer.init(bitPattern:))
    }

    /// - Returns: False if there is enough spare memory, or if the system couldn't reclaim it.
    fileprivate func add(_ base: UnsafeMutableRawPointer) -> Bool {
      guard count < limit, capacity == standardCapacity || HugePages.disuse(base, capacity) else { return false }
      return addresses.withLock { addresses in
        guard addresses.count < limit else { return false }
        addresses.append(UInt(bitPattern: base))
        return true
      }
    }
  }
}
