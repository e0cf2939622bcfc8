/// The pending events of one sequence, bounded in number.
final class ContextEventBuffer<Element> {
  private var events: [Element] = []
  private let joining: EventJoining<Element>
  private let signal = WakeSignal()
  private weak var context: ManagedObjectContext?
  private var observation: ContextObservation?
  private static var capacity: Int { 100 }
  private static var objectCapacity: Int { 10_000 }

  /// - Parameter element: Maps an event to an element of the sequence, or to nil to skip it.
  init(
    _ context: ManagedObjectContext, joining: EventJoining<Element>,
    _ element: @escaping (ContextEvent) -> Element?
  ) {
    self.context = context
    self.joining = joining
    observation = context.observe(wake: { [signal] in signal.send() }) { [weak self] event in
      guard let self, let element = element(event) else { return }
      enqueue(element)
      signal.send()
    }
    context.add(signal)
  }

  private func enqueue(_ element: Element) {
    if events.count == Self.capacity, let last = events.popLast() {
      events.append(joining.join(last, element))
    } else {
      events.append(element)
    }
    let count = events.reduce(0) { $0 + joining.objectCount($1) }
    if count > Self.objectCapacity { events = [joining.incomplete] }
  }

  /// Returns the next event. A waiting consumer is woken by the first change after pending changes were processed, runs
  /// once the code that makes the changes suspends or returns, and then processes them.
  func next(isolation actor: isolated (any Actor)?) async -> Element? {
    while !Task.isCancelled {
      let sent = signal.count
      context?.processPendingChanges()
      if !events.isEmpty { return events.removeFirst() }
      guard context != nil else { return nil }
      await signal.wait(since: sent, isolation: actor)
    }
    return nil
  }
}

/// The rules for coalescing elements of a sequence that aren't consumed.
struct EventJoining<Element> {
  /// The number of objects that an element keeps waiting.
  let objectCount: (Element) -> Int
  /// Combines an element and its successor into one.
  let join: (Element, Element) -> Element
  /// The element that replaces more objects than can wait.
  let incomplete: Element
}

extension EventJoining where Element == Void {
  static var beginnings: EventJoining { EventJoining(objectCount: { 0 }, join: { _, _ in }, incomplete: ()) }
}

extension EventJoining where Element == ObjectsDidChange {
  static var changes: EventJoining {
    var incomplete = ObjectsDidChange()
    incomplete.isIncomplete = true
    return EventJoining(objectCount: \.count, join: { $0.followed(by: $1) }, incomplete: incomplete)
  }
}

extension EventJoining where Element == ObjectsDidSave {
  static var saves: EventJoining {
    var incomplete = ObjectsDidSave()
    incomplete.savedChanges.isIncomplete = true
    return EventJoining(objectCount: \.count, join: { $0.followed(by: $1) }, incomplete: incomplete)
  }
}

extension ObjectsDidChange {
  fileprivate var count: Int {
    inserted.count + updated.count + deleted.count + refreshed.count + invalidated.count + invalidatedAll.count
  }

  /// Combines two consecutive events: an object that was inserted and then deleted counts as deleted, one that was
  /// deleted and then inserted counts as inserted.
  fileprivate func followed(by later: ObjectsDidChange) -> ObjectsDidChange {
    var both = self
    both.inserted = inserted.subtracting(later.deleted).union(later.inserted)
    both.updated = updated.subtracting(later.deleted).union(later.updated)
    both.deleted = deleted.subtracting(later.inserted).union(later.deleted)
    both.refreshed = refreshed.subtracting(later.deleted).union(later.refreshed)
    both.invalidated.formUnion(later.invalidated)
    both.invalidatedAll.formUnion(later.invalidatedAll)
    both.isIncomplete = isIncomplete || later.isIncomplete
    return both
  }
}

extension ObjectsDidSave {
  fileprivate var count: Int { inserted.count + updated.count + deleted.count }

  /// Combines two consecutive saves like ``SavedChanges/followed(by:)``.
  fileprivate func followed(by later: ObjectsDidSave) -> ObjectsDidSave {
    ObjectsDidSave(
      inserted: inserted.subtracting(later.deleted).union(later.inserted),
      updated: updated.subtracting(later.deleted).union(later.updated),
      deleted: deleted.subtracting(later.inserted).union(later.deleted),
      savedChanges: savedChanges.followed(by: later.savedChanges))
  }
}
