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
/// between the making of the sequence and the taking of an element waits, with its objects, until it is taken. The
/// sequence ends when the context goes away or the task is cancelled; it doesn't keep the context alive.
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

/// The events of one sequence that weren't taken yet.
final class ContextEventBuffer<Element> {
  private var events: [Element] = []
  private let turn = Turn()
  private weak var context: ManagedObjectContext?
  private var observation: ContextObservation?

  /// - Parameter element: what the sequence has for an event; nil where it has nothing.
  init(_ context: ManagedObjectContext, _ element: @escaping (ContextEvent) -> Element?) {
    self.context = context
    observation = context.observe(wake: { [turn] in turn.give() }) { [weak self] event in
      guard let self, let element = element(event) else { return }
      events.append(element)
      turn.give()
    }
    context.mailbox.add(turn.bell)
  }

  /// The next event. Whoever waits is woken by the first change after pending changes were processed, comes to its turn
  /// once the code that makes the changes suspends or ends, and then processes them.
  func next(isolation actor: isolated (any Actor)?) async -> Element? {
    while !Task.isCancelled {
      context?.processPendingChanges()
      if !events.isEmpty { return events.removeFirst() }
      guard context != nil else { return nil }
      await turn.wait(isolation: actor)
    }
    return nil
  }
}
