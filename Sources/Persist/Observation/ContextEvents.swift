/// What a context tells, one element after the other, for code of the context's own isolation.
///
/// ```swift
/// @MainActor func follow(_ context: ManagedObjectContext) async {
///   for await changes in context.objectsDidChange {
///     print(changes.inserted.count, "new")
///   }
/// }
/// ```
///
/// The elements hold objects, so that neither they nor the sequence can leave the context's isolation. What is told
/// between the making of the sequence and the taking of an element waits, with its objects, until it is taken: the
/// first hundred elements one by one, later ones joined to one. Of more than 10,000 objects nothing waits but that the
/// element is incomplete. The sequence ends when the context goes away or the task is cancelled; it doesn't keep the
/// context alive. A sequence that nobody holds any more costs nothing.
public struct ContextEvents<Element>: AsyncSequence {
  public typealias Failure = Never

  let buffer: ContextEventBuffer<Element>

  public func makeAsyncIterator() -> Iterator { Iterator(buffer: buffer) }

  public struct Iterator: AsyncIteratorProtocol {
    let buffer: ContextEventBuffer<Element>

    public mutating func next() async -> Element? { await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> Element? {
      await buffer.next(isolation: actor)
    }
  }
}

