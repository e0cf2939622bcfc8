/// Which results a controller had at one moment, as identifiers: a value that may go anywhere.
///
/// New objects have temporary identifiers until they are saved. Lists that keep rows by identifier get permanent ones
/// from ``ManagedObjectContext/obtainPermanentIDs(for:)``.
public struct FetchedResultsSnapshot: Sendable, Hashable {
  public struct Section: Sendable, Hashable {
    public let name: String
    public let objectIDs: [ManagedObjectID]
  }

  public let sections: [Section]
  /// Those whose values changed since the element before, new ones included; empty for the first element of a sequence.
  public internal(set) var changedObjectIDs: Set<ManagedObjectID> = []

  /// The identifiers of all results in order.
  ///
  /// A list without sections takes `now.objectIDs.difference(from: before.objectIDs)`.
  public var objectIDs: [ManagedObjectID] { sections.flatMap(\.objectIDs) }
  public var numberOfObjects: Int { sections.reduce(0) { $0 + $1.objectIDs.count } }

  public subscript(indexPath: ResultIndexPath) -> ManagedObjectID {
    sections[indexPath.section].objectIDs[indexPath.row]
  }
}

extension FetchedResultsController {
  /// The present results as identifiers; without sections before ``performFetch()``.
  ///
  /// - Complexity: O(*results*).
  public var snapshot: FetchedResultsSnapshot {
    FetchedResultsSnapshot(
      sections: results?.sections.map { section in
        FetchedResultsSnapshot.Section(name: section.name, objectIDs: section.items.map(\.object.objectID))
      } ?? [])
  }

  /// The results now and after each change, for code of the context's own isolation.
  ///
  /// ```swift
  /// for await snapshot in controller.snapshots {
  ///   list.apply(snapshot.sections, reloading: snapshot.changedObjectIDs)
  /// }
  /// ```
  ///
  /// What changes while nobody takes an element becomes one element. Whoever awaits one is woken by the first change
  /// of the context and gets its turn after the stretch of code that made it. The sequence keeps the controller alive
  /// and ends when its task is cancelled.
  public var snapshots: FetchedResultsSnapshots<Object> { FetchedResultsSnapshots(controller: self) }
}
