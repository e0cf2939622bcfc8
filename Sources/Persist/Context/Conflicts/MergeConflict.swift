/// An object whose row others changed or deleted after the context read it.
///
/// A value, which can leave the context's isolation with the error that contains it. The object itself is
/// `context.object(with: conflict.sourceObjectID)`, within the context's isolation.
///
/// Snapshots contain attributes and the identifiers of to-one relationships by name, like Core Data's; to-many
/// relationships aren't included.
public struct MergeConflict: Sendable {
  /// The object to be saved.
  public let sourceObjectID: ManagedObjectID
  /// The row's version when the context read it; 0 if it never did.
  public let oldVersionNumber: Int64
  /// The row's current version; 0 if the row is deleted.
  public let newVersionNumber: Int64
  /// The values that the context last read; nil if it never read the row.
  public let objectSnapshot: [String: StoredValue]?
  /// The values in the store; nil if the row is deleted.
  public let cachedSnapshot: [String: StoredValue]?
  /// Always nil: in Core Data, it distinguishes the file from the coordinator's row cache, and Persist has no such
  /// cache.
  public var persistedSnapshot: [String: StoredValue]? { nil }
  /// The common ancestor of both sides, which is what the context last read.
  public var ancestorSnapshot: [String: StoredValue]? { objectSnapshot }
  /// The values that the save would have written; empty for a deletion.
  public let changedValues: [String: StoredValue]

  /// The row in the store, as read.
  let row: RowSnapshot?

  init(_ object: ManagedObject, row: RowSnapshot?) {
    sourceObjectID = object.objectID
    oldVersionNumber = object.snapshot?.version ?? 0
    newVersionNumber = row?.version ?? 0
    objectSnapshot = object.snapshot.map(object.values(of:))
    cachedSnapshot = row.map(object.values(of:))
    changedValues = object.change == .updated ? object.unsavedValues : Dictionary()
    self.row = row
  }
}

extension MergeConflict: Hashable {
  public static func == (left: MergeConflict, right: MergeConflict) -> Bool {
    left.sourceObjectID == right.sourceObjectID && left.oldVersionNumber == right.oldVersionNumber
      && left.newVersionNumber == right.newVersionNumber && left.objectSnapshot == right.objectSnapshot
      && left.cachedSnapshot == right.cachedSnapshot && left.changedValues == right.changedValues
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(sourceObjectID)
    hasher.combine(newVersionNumber)
  }
}

extension ManagedObject {
  /// Returns the values of a row of this object's entity, by name. A large value whose file is already gone is omitted.
  final func values(of row: RowSnapshot) -> [String: StoredValue] {
    layout.storedSlots.reduce(into: Dictionary()) { values, stored in
      values[layout.properties[stored.slot].name] =
        layout.mayBeInFile[stored.slot]
        ? valueInFiles(at: stored.slot, in: row) : storedValue(at: stored.slot, in: row)
    }
  }

  /// The attributes and to-one relationships that differ from the values read.
  fileprivate final var unsavedValues: [String: StoredValue] {
    layout.storedSlots.reduce(into: Dictionary()) { values, stored in
      if differsFromStored(stored) { values[layout.properties[stored.slot].name] = pending[stored.slot] }
    }
  }
}
