/// Memory for the texts and bytes that a statement has bound.
///
/// SQLite reads a bound value while the statement runs. Copying it here instead of letting SQLite copy it saves an
/// allocation per value and row: the memory is used again for the next row.
struct BindingArena: ~Copyable {
  private static let smallest = 1024
  /// Larger values are copied by SQLite, so that one of them doesn't stay in memory with its statement.
  static let largestValue = 32 * 1024

  private var chunks: [UnsafeMutableRawBufferPointer] = []
  private var used = 0

  deinit {
    for chunk in chunks { chunk.deallocate() }
  }

  /// Copies bytes to a place that stays where it is until ``reset()``.
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

  /// Lets go of everything that was copied. Nothing may be bound to it any more.
  mutating func reset() {
    if chunks.count > 1 {
      for chunk in chunks.dropLast() { chunk.deallocate() }
      chunks.removeFirst(chunks.count - 1)
    }
    used = 0
  }
}
