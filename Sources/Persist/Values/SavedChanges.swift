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
  /// Whether more was written than is named: so much that it wasn't kept until somebody asked for it.
  ///
  /// ``ManagedObjectContext/mergeChanges(from:)`` then looks at every registered object.
  public var isIncomplete = false

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
  /// How many objects were written.
  public var count: Int { insertedObjectIDs.count + updatedObjectIDs.count + deletedObjectIDs.count }

  /// What two saves wrote, one after the other.
  func followed(by later: SavedChanges) -> SavedChanges {
    var both = SavedChanges(
      inserted: insertedObjectIDs.subtracting(later.deletedObjectIDs).union(later.insertedObjectIDs),
      updated: updatedObjectIDs.subtracting(later.deletedObjectIDs).union(later.updatedObjectIDs),
      deleted: deletedObjectIDs.subtracting(later.insertedObjectIDs).union(later.deletedObjectIDs))
    both.isIncomplete = isIncomplete || later.isIncomplete
    return both
  }

  /// So many identifiers wait for somebody to ask for them; of more nothing is kept but that they are incomplete.
  static let waitingCapacity = 50_000

  /// The changes where they are few enough to be kept waiting, else none but that they are incomplete.
  var bounded: SavedChanges {
    guard count > Self.waitingCapacity else { return self }
    var changes = SavedChanges()
    changes.isIncomplete = true
    return changes
  }
}
