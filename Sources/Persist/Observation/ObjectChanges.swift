/// The changes of one object as an asynchronous sequence, for code within the context's isolation.
///
/// ```swift
/// @MainActor func follow(_ item: Item, in context: ManagedObjectContext) async {
///   for await change in context.changes(of: item) {
///     if change.properties.contains("name") { title = item.name }
///   }
/// }
/// ```
///
/// Code that awaits an element is woken by the first change and resumes after the code that made the change. All
/// changes made until then, or while no code awaits an element, are combined in one element, so that the queue never
/// contains more than the names of the object's properties. The sequence holds the object. It ends when the object
/// leaves its context (because its deletion is saved, the context is reset, or the context is deallocated, which the
/// sequence doesn't prevent) and when its task is canceled. A released sequence costs nothing.
public struct ObjectChanges: AsyncSequence {
  /// The sequence doesn't throw.
  public typealias Failure = Never

  let buffer: ObjectChangeBuffer

  /// An iterator over the pending changes.
  public func makeAsyncIterator() -> Iterator { Iterator(buffer: buffer) }

  /// Receives one change after another.
  public struct Iterator: AsyncIteratorProtocol {
    let buffer: ObjectChangeBuffer

    /// The next change; nil at the end.
    public mutating func next() async -> ObjectChange? { await next(isolation: nil) }

    /// The next change; nil at the end.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> ObjectChange? {
      await buffer.next(isolation: actor)
    }
  }
}

/// A change of an object, whether by the program, a merge, a refresh, undo or a rollback.
public struct ObjectChange: Sendable, Hashable {
  /// The names of the properties that have changed, or may have; all properties if the object is a fault again.
  public internal(set) var properties: Set<String> = []
  /// Whether the object became a new, changed, deleted or unchanged one, or left its context.
  public internal(set) var isOfState = false
}

extension ManagedObjectContext {
  /// The future changes of one of the context's objects. Each call creates a separate sequence.
  ///
  /// - Parameter object: An object of this context; for any other, the sequence is empty.
  public func changes(of object: ManagedObject) -> ObjectChanges {
    ObjectChanges(buffer: ObjectChangeBuffer(object, isOver: object.table?.context !== self))
  }
}

/// The pending changes of one sequence.
final class ObjectChangeBuffer {
  private let object: ManagedObject
  private let signal = WakeSignal()
  private var waiting = ObjectChange()
  private var isOver: Bool
  private var observation: ObjectObservation?

  init(_ object: ManagedObject, isOver: Bool) {
    self.object = object
    self.isOver = isOver
    guard !isOver, let context = object.table?.context else { return }
    let observation = ObjectObservation(
      receive: { [weak self] in self?.enqueue($0) }, end: { [weak self] in self?.end() })
    self.observation = observation
    object.observersForAdding.add(observation)
    // A context that merges by itself merges when its owner's code runs next.
    context.add(signal)
  }

  private func enqueue(_ changed: Set<ObservedProperty>) {
    for property in changed {
      if property == .state {
        waiting.isOfState = true
      } else if property.slot >= 0 {
        waiting.properties.insert(object.layout.properties[property.slot].name)
      }
    }
    if waiting != ObjectChange() { signal.send() }
  }

  private func end() {
    isOver = true
    signal.send()
  }

  func next(isolation actor: isolated (any Actor)?) async -> ObjectChange? {
    while !Task.isCancelled {
      let sent = signal.count
      object.table?.context.processPendingChanges()
      if waiting != ObjectChange() {
        defer { waiting = ObjectChange() }
        return waiting
      }
      if isOver { return nil }
      await signal.wait(since: sent, isolation: actor)
    }
    return nil
  }
}
