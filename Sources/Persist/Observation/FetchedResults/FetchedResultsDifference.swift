/// The changes between two states of a controller's results.
///
/// Old positions refer to all results before the change, new positions to all results after it. To update a list,
/// remove deleted and moved objects from the last position to the first; remove and insert sections; then insert new
/// and moved objects from the first position to the last.
public struct FetchedResultsDifference: Sendable, Hashable {
  /// The change of a section. Sections don't move.
  public enum SectionChange: Sendable, Hashable {
    /// The section with this name was removed from this old index, with all its objects.
    case delete(String, at: Int)
    /// A section with this name was added at this new index.
    case insert(String, at: Int)
  }

  /// The change of an object's position or values.
  public enum ObjectChange: Sendable, Hashable {
    /// The object was removed from the results; the position is the old one.
    case delete(ManagedObjectID, at: ResultIndexPath)
    /// The object was added to the results; the position is the new one.
    case insert(ManagedObjectID, at: ResultIndexPath)
    /// A sort value of the object changed, or its position relative to the remaining objects.
    case move(ManagedObjectID, from: ResultIndexPath, to: ResultIndexPath)
    /// The object's values changed. It kept its position relative to the remaining objects, even if others before it
    /// were added or removed.
    case update(ManagedObjectID, at: ResultIndexPath, now: ResultIndexPath)
  }

  /// Deletions, then insertions.
  public internal(set) var sectionChanges: [SectionChange] = []
  /// Deletions, then insertions, moves and updates; each kind sorted by position.
  public internal(set) var objectChanges: [ObjectChange] = []
  /// Whether the results were refetched without known changes, as after a reset.
  public internal(set) var isReload = false

  /// Whether the results are unchanged; false for a reload.
  public var isEmpty: Bool { sectionChanges.isEmpty && objectChanges.isEmpty && !isReload }

  /// The identifiers of remaining objects whose values changed.
  public var changedObjectIDs: Set<ManagedObjectID> {
    objectChanges.reduce(into: []) { ids, change in
      switch change {
      case .move(let id, _, _), .update(let id, _, _): ids.insert(id)
      case .delete, .insert: break
      }
    }
  }
}
