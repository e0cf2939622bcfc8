/// What one save wrote, as identifiers: a value that may go to any context, task or actor.
///
/// Identifiers of new objects are the permanent ones.
///
/// ```swift
/// for await changes in background.savedChanges {      // an AsyncStream: it may be taken to another actor
///   print(changes.insertedObjectIDs.count)
/// }
/// ```
public struct SavedChanges: Sendable, Hashable {
  public var insertedObjectIDs: Set<ManagedObjectID>
  public var updatedObjectIDs: Set<ManagedObjectID>
  public var deletedObjectIDs: Set<ManagedObjectID>

  public init(
    inserted: Set<ManagedObjectID> = [], updated: Set<ManagedObjectID> = [], deleted: Set<ManagedObjectID> = []
  ) {
    insertedObjectIDs = inserted
    updatedObjectIDs = updated
    deletedObjectIDs = deleted
  }

  /// Whether nothing was written.
  public var isEmpty: Bool {
    insertedObjectIDs.isEmpty && updatedObjectIDs.isEmpty && deletedObjectIDs.isEmpty
  }
}

extension SavedChanges {
  /// How many objects were written.
  public var count: Int { insertedObjectIDs.count + updatedObjectIDs.count + deletedObjectIDs.count }

  /// What two saves wrote, one after the other.
  func followed(by later: SavedChanges) -> SavedChanges {
    SavedChanges(
      inserted: insertedObjectIDs.subtracting(later.deletedObjectIDs).union(later.insertedObjectIDs),
      updated: updatedObjectIDs.subtracting(later.deletedObjectIDs).union(later.updatedObjectIDs),
      deleted: deletedObjectIDs.subtracting(later.insertedObjectIDs).union(later.deletedObjectIDs))
  }
}
