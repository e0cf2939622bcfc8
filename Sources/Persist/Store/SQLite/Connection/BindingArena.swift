/// Memory for the texts and bytes bound to a statement.
///
/// SQLite reads a bound value while the statement runs. Copying it here instead of letting SQLite copy it saves an
/// allocation per value and row: the memory is reused for the next row.
struct BindingArena: ~Copyable {
  private static let smallest = 1024
  /// SQLite copies larger values itself, so that they don't remain in memory with the statement.
  static let largestValue = 32 * 1024

  private var chunks: [UnsafeMutableRawBufferPointer] = []
  private var used = 0

  deinit {
    for chunk in chunks { chunk.deallocate() }
  }

  /// Copies bytes to memory that stays valid until ``reset()``.
  mutating func copy(_ bytes: UnsafeRawBufferPointer) -> UnsafeRawPointer {
    if chunks.isEmpty || used + bytes.count > chunks.last?.count ?? 0 {
      let size = max(Self.smallest, (chunks.last?.count ?? 0) * 2, bytes.count)
      chunks.append(.allocate(byteCount: size, alignment: 1))
      used = 0
    }
    guard let chunk = chunks.last, let base = chunk.baseAddress else { preconditionFailure("A chunk has memory.") }
    let place = base + used
    if let source = bytes.baseAddress { place.copyMemory(from: source, byteCount: bytes.count) }
    used += bytes.count
    return UnsafeRawPointer(place)
  }

  /// Releases all copied bytes. No binding may refer to them any longer.
  mutating func reset() {
    if chunks.count > 1 {
      for chunk in chunks.dropLast() { chunk.deallocate() }
      chunks.removeFirst(chunks.count - 1)
    }
    used = 0
  }
}
