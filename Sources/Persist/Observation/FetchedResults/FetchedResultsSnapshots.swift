/// The results of a controller, with one element after each change.
public struct FetchedResultsSnapshots<Object: ManagedObject>: AsyncSequence {
  public typealias Element = FetchedResultsSnapshot
  public typealias Failure = Never

  let controller: FetchedResultsController<Object>

  public func makeAsyncIterator() -> Iterator { Iterator(buffer: ResultSnapshotBuffer(controller)) }

  /// Iterates over the snapshots, beginning with the current results if they have been fetched.
  public struct Iterator: AsyncIteratorProtocol {
    let buffer: ResultSnapshotBuffer<Object>

    public mutating func next() async -> FetchedResultsSnapshot? { await next(isolation: nil) }

    public mutating func next(isolation actor: isolated (any Actor)?) async -> FetchedResultsSnapshot? {
      await buffer.next(isolation: actor)
    }
  }
}

/// The pending snapshot of one sequence.
final class ResultSnapshotBuffer<Object: ManagedObject> {
  let signal = WakeSignal()
  private let controller: FetchedResultsController<Object>
  private var waiting: FetchedResultsSnapshot?

  init(_ controller: FetchedResultsController<Object>) {
    self.controller = controller
    waiting = controller.arrangement == nil ? nil : controller.snapshot
    controller.add(self)
    controller.managedObjectContext.add(signal)
  }

  /// Replaces a snapshot that wasn't consumed.
  func update(_ snapshot: FetchedResultsSnapshot, changed: Set<ManagedObjectID>) {
    var all = waiting?.changedObjectIDs.union(changed) ?? changed
    // Objects that were added and removed between two elements are dropped.
    if all.count > snapshot.numberOfObjects { all.formIntersection(snapshot.objectIDs) }
    waiting = snapshot
    waiting?.changedObjectIDs = all
    signal.send()
  }

  func next(isolation actor: isolated (any Actor)?) async -> FetchedResultsSnapshot? {
    while !Task.isCancelled {
      let sent = signal.count
      controller.managedObjectContext.processPendingChanges()
      if let snapshot = waiting {
        waiting = nil
        return snapshot
      }
      await signal.wait(since: sent, isolation: actor)
    }
    return nil
  }
}
