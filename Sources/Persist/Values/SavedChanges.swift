/// The changes that one save wrote, as identifiers: a value that can be passed to any context, task or actor.
///
/// New objects have their permanent identifiers.
///
/// ```swift
/// for await changes in background.savedChanges {      // an AsyncStream, which another actor may use
///   print(changes.insertedObjectIDs.count)
/// }
/// ```
public struct SavedChanges: Sendable, Hashable {
  /// The permanent identifiers of the inserted objects.
  public var insertedObjectIDs: Set<ManagedObjectID>
  /// The identifiers of the objects whose rows were changed.
  public var updatedObjectIDs: Set<ManagedObjectID>
  /// The identifiers of the objects whose rows were deleted.
  public var deletedObjectIDs: Set<ManagedObjectID>
  /// Whether more objects were written than are listed: too many to retain until they were requested.
  ///
  /// ``ManagedObjectContext/mergeChanges(from:)`` then checks every registered object.
  public var isIncomplete = false

  /// Creates changes from identifiers, for example to merge the changes of another process.
  public init(
    inserted: Set<ManagedObjectID> = [], updated: Set<ManagedObjectID> = [], deleted: Set<ManagedObjectID> = []
  ) {
    insertedObjectIDs = inserted
    updatedObjectIDs = updated
    deletedObjectIDs = deleted
  }

  /// Whether nothing was written.
  public var isEmpty: Bool {
    !isIncomplete && insertedObjectIDs.isEmpty && updatedObjectIDs.isEmpty && deletedObjectIDs.isEmpty
  }
}

extension SavedChanges {
  /// The number of objects that were written.
  public var count: Int { insertedObjectIDs.count + updatedObjectIDs.count + deletedObjectIDs.count }

  /// Returns the combined changes of this save and a later one.
  package func followed(by later: SavedChanges) -> SavedChanges {
    var both = self
    both.append(later)
    return both
  }

  /// Adds the changes of a later save.
  ///
  /// - Complexity: O(*changes of the later save*).
  package mutating func append(_ later: SavedChanges) {
    for id in later.deletedObjectIDs {
      insertedObjectIDs.remove(id)
      updatedObjectIDs.remove(id)
    }
    for id in later.insertedObjectIDs { deletedObjectIDs.remove(id) }
    insertedObjectIDs.formUnion(later.insertedObjectIDs)
    updatedObjectIDs.formUnion(later.updatedObjectIDs)
    deletedObjectIDs.formUnion(later.deletedObjectIDs)
    isIncomplete = isIncomplete || later.isIncomplete
  }

  /// The largest number of identifiers that is retained until it is requested; beyond it, only ``isIncomplete`` is
  /// recorded.
  package static let waitingCapacity = 50_000

  /// The changes if there are few enough to retain, otherwise an empty set of changes marked as incomplete.
  package var bounded: SavedChanges {
    guard count > Self.waitingCapacity else { return self }
    var changes = SavedChanges()
    changes.isIncomplete = true
    return changes
  }
}
