/// The kind of change to a section or an object in a controller's results.
public enum FetchedResultsChangeType: Sendable, Hashable {
  /// It was added to the results.
  case insert
  /// It was removed from the results.
  case delete
  /// One of its sort values or its section changed, so its position may differ; other values may have changed too.
  /// Sections don't move.
  case move
  /// Values other than its sort values changed.
  case update

  init(_ kind: ResultDifference.Change.Kind) {
    switch kind {
    case .insert: self = .insert
    case .delete: self = .delete
    case .move: self = .move
    case .update: self = .update
    }
  }
}

/// Receives the changes to the results of a ``FetchedResultsController``. Every method is optional.
///
/// The calls have Core Data's order: will change; removed sections, added sections; removed, added, moved and updated
/// objects; did change. A call with the whole difference precedes the last one, for lists that apply all changes at
/// once. Old positions refer to all results before the change, new positions to all results after it.
///
/// After a reset of the context, the results are refetched and changes to single objects are unknown: only
/// ``controller(_:didChangeContentWith:)-(_,FetchedResultsDifference)`` is called, with
/// ``FetchedResultsDifference/isReload``.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
  /// The class of the controller's results.
  associatedtype Object: ManagedObject

  /// Called while the controller still has the old results.
  func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)
  /// - Parameters:
  ///   - controller: The controller whose results changed.
  ///   - section: The section; without objects if it was removed.
  ///   - index: The old position of a removed section, the new position of an added one.
  ///   - type: The kind of change.
  func controller(
    _ controller: FetchedResultsController<Object>, didChange section: FetchedResultsSection<Object>,
    atSectionIndex index: Int, for type: FetchedResultsChangeType)
  /// - Parameters:
  ///   - controller: The controller whose results changed.
  ///   - object: The changed object.
  ///   - indexPath: The old position; nil for an added object.
  ///   - type: The kind of change.
  ///   - newIndexPath: The new position; nil for a removed object.
  func controller(
    _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: ResultIndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: ResultIndexPath?)
  /// Called once with all changes, when the controller already has the new results.
  ///
  /// - Parameters:
  ///   - controller: The controller whose results changed.
  ///   - difference: The changes of sections and objects, with positions before and after.
  func controller(
    _ controller: FetchedResultsController<Object>, didChangeContentWith difference: FetchedResultsDifference)
  /// Called last, after all other calls for a change.
  func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)
  /// Returns the title of a section in an index beside the list; nil for the first letter of its name.
  func controller(
    _ controller: FetchedResultsController<Object>, sectionIndexTitleForSectionName name: String
  ) -> String?
}

extension FetchedResultsControllerDelegate {
  /// Does nothing.
  public func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {}

  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Object>, didChange section: FetchedResultsSection<Object>,
    atSectionIndex index: Int, for type: FetchedResultsChangeType
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: ResultIndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: ResultIndexPath?
  ) {}

  /// Does nothing.
  public func controller(
    _ controller: FetchedResultsController<Object>, didChangeContentWith difference: FetchedResultsDifference
  ) {}

  /// Does nothing.
  public func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {}

  /// Nil: the first letter of the section's name.
  public func controller(
    _ controller: FetchedResultsController<Object>, sectionIndexTitleForSectionName name: String
  ) -> String? { nil }
}
