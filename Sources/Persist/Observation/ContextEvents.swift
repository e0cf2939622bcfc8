/// The events of a context as a sequence, for code in the context's isolation.
///
/// ```swift
/// @MainActor func follow(_ context: ManagedObjectContext) async {
///   for await changes in context.objectsDidChange {
///     print(changes.inserted.count, "new")
///   }
/// }
/// ```
///
/// The elements hold objects, so neither they nor the sequence can leave the context's isolation. Events since the
/// creation of the sequence wait, with their objects, until they are consumed: the first hundred one by one, later ones
/// coalesced into one. If more than 10,000 objects would wait, a single element marked as incomplete replaces them. The
/// sequence ends when the context is deallocated or the task is canceled; it doesn't keep the context alive. A sequence
/// without references costs nothing.
public struct ContextEvents<Element>: AsyncSequence {
  public typealias Failure = Never

  let buffer: ContextEventBuffer<Element>

  public func makeAsyncIterator() -> Iterator { Iterator(buffer: buffer) }

  /// Iterates over the events; all iterators of a sequence share its waiting events.
  public struct Iterator: AsyncIteratorProtocol {
    let buffer: ContextEventBuffer<Element>

    public mutating func next() async -> Element? { await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await buffer.next(isolation: actor)
    }
  }
}

