/// What happened to a controller's results at once.
///
/// Places before are those of all results before, places after those of all results after. To bring a list up to date,
/// take out what was deleted and moved, from the last place to the first; take out and put in the sections; then put
/// in what was inserted and moved, from the first place to the last.
public struct FetchedResultsDifference: Sendable, Hashable {
  public enum SectionChange: Sendable, Hashable {
    case delete(String, at: Int)
    case insert(String, at: Int)
  }

  public enum ObjectChange: Sendable, Hashable {
    case delete(ManagedObjectID, at: ResultIndexPath)
    case insert(ManagedObjectID, at: ResultIndexPath)
    /// A value that the object is sorted by changed, or it has another place among those that stay.
    case move(ManagedObjectID, from: ResultIndexPath, to: ResultIndexPath)
    /// The object's values changed. It has the place that it had among those that stay, if others came and went before
    /// it.
    case update(ManagedObjectID, at: ResultIndexPath, now: ResultIndexPath)
  }

  /// Those that go, then those that come.
  public internal(set) var sectionChanges: [SectionChange] = []
  /// Those that go, then those that come, that move and that have other values; each kind by its place.
  public internal(set) var objectChanges: [ObjectChange] = []
  /// Whether the results were fetched anew and nothing is known of what happened to them, as after a reset.
  public internal(set) var isReload = false

  public var isEmpty: Bool { sectionChanges.isEmpty && objectChanges.isEmpty && !isReload }

  /// The identifiers of objects whose values changed and that are still there.
  public var changedObjectIDs: Set<ManagedObjectID> {
    objectChanges.reduce(into: []) { ids, change in
      switch change {
      case .move(let id, _, _), .update(let id, _, _): ids.insert(id)
      case .delete, .insert: break
      }
    }
  }
}
