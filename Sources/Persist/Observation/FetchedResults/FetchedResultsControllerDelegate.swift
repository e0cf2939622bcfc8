/// What happened to a section or an object of a controller's results.
public enum FetchedResultsChangeType: Sendable, Hashable {
  /// It is new among the results.
  case insert
  /// It is none of the results any more.
  case delete
  /// A value that it is sorted by changed, or its section, so that it may have another place; its other values may have
  /// changed too. Sections don't move.
  case move
  /// It has other values, none of which it is sorted by.
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

/// Is told how the results of a ``FetchedResultsController`` change. Every function may be left out.
///
/// The order of calls is that of Core Data: will change; sections that go, sections that come; objects that go, come,
/// move and have other values; did change. A call with the whole difference comes before the last, for lists that
/// take all at once. Places before are those of all results before the change, places after those of all after it.
///
/// After a reset of the context the results are fetched anew, and nothing is known of single objects: then only
/// ``controller(_:didChangeContentWith:)-(_,FetchedResultsDifference)`` is called, with
/// ``FetchedResultsDifference/isReload``.
public protocol FetchedResultsControllerDelegate<Object>: AnyObject {
  associatedtype Object: ManagedObject

  /// Called while the controller still has the results from before the change.
  func controllerWillChangeContent(_ controller: FetchedResultsController<Object>)
  /// - Parameters:
  ///   - section: has no objects where it is deleted.
  ///   - index: the place before for a section that goes, after for one that comes.
  func controller(
    _ controller: FetchedResultsController<Object>, didChange section: FetchedResultsSection<Object>,
    atSectionIndex index: Int, for type: FetchedResultsChangeType)
  /// - Parameters:
  ///   - indexPath: the place before; nil for an object that is new among the results.
  ///   - newIndexPath: the place after; nil for one that goes.
  func controller(
    _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: ResultIndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: ResultIndexPath?)
  func controller(
    _ controller: FetchedResultsController<Object>, didChangeContentWith difference: FetchedResultsDifference)
  func controllerDidChangeContent(_ controller: FetchedResultsController<Object>)
  /// What stands for a section in an index beside the list; nil for the first letter of its name.
  func controller(
    _ controller: FetchedResultsController<Object>, sectionIndexTitleForSectionName name: String
  ) -> String?
}

extension FetchedResultsControllerDelegate {
  public func controllerWillChangeContent(_ controller: FetchedResultsController<Object>) {}

  public func controller(
    _ controller: FetchedResultsController<Object>, didChange section: FetchedResultsSection<Object>,
    atSectionIndex index: Int, for type: FetchedResultsChangeType
  ) {}

  public func controller(
    _ controller: FetchedResultsController<Object>, didChange object: Object, at indexPath: ResultIndexPath?,
    for type: FetchedResultsChangeType, newIndexPath: ResultIndexPath?
  ) {}

  public func controller(
    _ controller: FetchedResultsController<Object>, didChangeContentWith difference: FetchedResultsDifference
  ) {}

  public func controllerDidChangeContent(_ controller: FetchedResultsController<Object>) {}

  public func controller(
    _ controller: FetchedResultsController<Object>, sectionIndexTitleForSectionName name: String
  ) -> String? { nil }
}
