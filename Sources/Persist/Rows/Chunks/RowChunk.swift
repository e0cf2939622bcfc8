#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// Memory shared by the rows of one fetch.
///
/// Rows follow one another, each with fixed slots followed by its variable-length bytes. One allocation serves hundreds
/// of objects; a chunk lives as long as any object reads from it.
///
/// A row, from its offset:
///
/// | bytes | what |
/// |---|---|
/// | 8 | the optimistic-lock counter, `Z_OPT` |
/// | 8 × slots | a 64-bit integer, a double, or offset (from the row) and length of variable bytes, 32 bits each |
/// | 8 × ⌈slots / 64⌉ | one bit per slot, set if the value is null |
/// | … | texts and bytes |
///
/// `@unchecked Sendable`: only a ``RowChunkWriter`` writes, before it returns the first snapshot of a row, and that row
/// is never written again. The rows of unsaved objects are an exception: each belongs to one context, which changes it
/// until it is saved.
@usableFromInline
final class RowChunk: @unchecked Sendable {
  static let standardCapacity = 64 * 1024
  /// The size of the chunks that follow many standard ones: one huge page, which takes a single entry in the
  /// processor's page tables, and which the system provides in one step instead of 512.
  static let hugeCapacity = 2 * 1024 * 1024

  @usableFromInline let base: UnsafeMutableRawPointer
  let capacity: Int

  init(capacity: Int) {
    base = .allocate(byteCount: capacity, alignment: capacity == Self.hugeCapacity ? capacity : 8)
    self.capacity = capacity
    #if os(Linux)
      // A hint that the system may ignore.
      if capacity == Self.hugeCapacity { _ = madvise(base, capacity, MADV_HUGEPAGE) }
    #endif
  }

  deinit { base.deallocate() }
}
