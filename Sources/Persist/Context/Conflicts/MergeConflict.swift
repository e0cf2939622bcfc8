/// An object whose row others changed or deleted after the context read it.
///
/// A value: it may leave the context's isolation with the error that carries it. The object itself is
/// `context.object(with: conflict.sourceObjectID)`, within the context's isolation.
///
/// Snapshots hold attributes and the identifiers of to-one relationships by name, as Core Data's do; to-many
/// relationships aren't part of them.
public struct MergeConflict: Sendable {
  /// The object that was to be saved.
  public let sourceObjectID: ManagedObjectID
  /// The row's version when the context read it; 0 where it never did.
  public let oldVersionNumber: Int64
  /// The row's version now; 0 where the row is gone.
  public let newVersionNumber: Int64
  /// What the context last read; nil where it never read the row.
  public let objectSnapshot: [String: StoredValue]?
  /// What the store holds now; nil where the row is gone.
  public let cachedSnapshot: [String: StoredValue]?
  /// Nil: Core Data tells the coordinator's row cache from the file by it, and Persist keeps no such cache.
  public var persistedSnapshot: [String: StoredValue]? { nil }
  /// What both sides began with, which is what the context last read.
  public var ancestorSnapshot: [String: StoredValue]? { objectSnapshot }
  /// The values that the save was to write; empty where it was to delete the row.
  public let changedValues: [String: StoredValue]

  /// What the store holds now, as it was read.
  let row: RowSnapshot?

  init(_ object: ManagedObject, row: RowSnapshot?) {
    sourceObjectID = object.objectID
    oldVersionNumber = object.snapshot?.version ?? 0
    newVersionNumber = row?.version ?? 0
    objectSnapshot = object.snapshot.map(object.values(of:))
    cachedSnapshot = row.map(object.values(of:))
    changedValues = object.change == .updated ? object.unsavedValues : [:]
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
  /// What a row of this object's entity holds, by name. A large value whose file is gone already is left out.
  final func values(of row: RowSnapshot) -> [String: StoredValue] {
    layout.storedSlots.reduce(into: [:]) { values, stored in
      if stored.form == .externalData, !row.isNull(stored.slot, of: layout.rowSlotCount),
        case .file(let name) = row.externalContent(stored.slot)
      {
        guard let data = try? table?.store?.externalData(named: name) else { return }
        values[layout.properties[stored.slot].name] = .data(data)
      } else {
        values[layout.properties[stored.slot].name] = storedValue(at: stored.slot, in: row)
      }
    }
  }

  /// The attributes and to-one relationships that differ from what was read.
  fileprivate final var unsavedValues: [String: StoredValue] {
    layout.storedSlots.reduce(into: [:]) { values, stored in
      if differsFromStored(stored) { values[layout.properties[stored.slot].name] = pending[stored.slot] }
    }
  }
}
