/// The results of a controller at one moment, as identifiers: a value that can be passed anywhere.
///
/// New objects have temporary identifiers until they are saved. For lists that track rows by identifier,
/// ``ManagedObjectContext/obtainPermanentIDs(for:)`` assigns permanent ones.
public struct FetchedResultsSnapshot: Sendable, Hashable {
  /// A section and the identifiers of its results.
  public struct Section: Sendable, Hashable {
    /// The section's name, as in ``FetchedResultsSection/name``.
    public let name: String
    /// The identifiers of the section's results, in order.
    public let objectIDs: [ManagedObjectID]
  }

  /// The sections in order; a single one named "" without a section key path, none before the fetch.
  public let sections: [Section]
  /// The objects whose values changed since the previous element, including new ones; empty for the first element of a
  /// sequence.
  public internal(set) var changedObjectIDs: Set<ManagedObjectID> = []

  /// The identifiers of all results in order.
  ///
  /// For a list without sections, use `now.objectIDs.difference(from: before.objectIDs)`.
  public var objectIDs: [ManagedObjectID] { sections.flatMap(\.objectIDs) }
  /// The number of results in all sections.
  public var numberOfObjects: Int { sections.reduce(0) { $0 + $1.objectIDs.count } }

  /// The identifier at an index path of an existing section and row; any other path traps.
  public subscript(indexPath: ResultIndexPath) -> ManagedObjectID {
    sections[indexPath.section].objectIDs[indexPath.row]
  }
}

extension FetchedResultsController {
  /// The current results as identifiers; without sections before ``performFetch()``.
  ///
  /// - Complexity: O(*results*).
  public var snapshot: FetchedResultsSnapshot {
    FetchedResultsSnapshot(
      sections: arrangement?.sections.map { section in
        FetchedResultsSnapshot.Section(name: section.name, objectIDs: section.items.map(\.object.objectID))
      } ?? [])
  }

  /// The results now and after each change, for code in the context's isolation.
  ///
  /// ```swift
  /// for await snapshot in controller.snapshots {
  ///   list.apply(snapshot.sections, reloading: snapshot.changedObjectIDs)
  /// }
  /// ```
  ///
  /// Changes that occur while no element is awaited are coalesced into one element. A waiting task is woken by the
  /// context's first change, and resumes after the code that made it has run. The sequence keeps the controller alive
  /// and ends when its task is canceled.
  public var snapshots: FetchedResultsSnapshots<Object> { FetchedResultsSnapshots(controller: self) }
}
