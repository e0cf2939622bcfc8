/// Access to a parent's objects for a child context: their current rows, including unsaved changes.
extension ManagedObjectContext {
  /// Returns the object of a row if it is registered, or a new object by its temporary number.
  func registeredObject(ofRow key: Int64, _ layout: EntityLayout, in tables: StoreTables) -> ManagedObject? {
    if key < 0, let object = unsavedTable.map[-key] { return object }
    return tables.table(for: layout).map[key]
  }

  /// Returns the rows of objects, omitting deleted ones. Missing rows of faults are read with one statement per entity;
  /// the faults remain faults.
  func rows(of objects: [ManagedObject], keysOnly: Bool) throws -> RowBatch {
    if !keysOnly { try readRows(of: objects.filter { $0.loading == .fault && $0.snapshot == nil }) }
    var writers = SnapshotWriters(layouts: layouts, unsaved: nil, expectedRows: objects.count)
    var batch = RowBatch()
    for object in objects where object.change != .deleted && object.loading != .missing {
      guard !keysOnly else {
        batch.append(.init(key: object.rowKey, entityIndex: object.layout.index, snapshot: nil))
        continue
      }
      guard let snapshot = object.presentRow(&writers) else { continue }
      batch.append(.init(key: object.rowKey, entityIndex: object.layout.index, snapshot: snapshot))
    }
    return batch
  }

  /// Returns the key by which a store's rows identify an object; nil for an object of another store.
  func rowKey(of id: ManagedObjectID, in tables: StoreTables) -> Int64? {
    if id.isTemporaryID { return parent == nil ? nil : id.rowKey }
    return id.storeIdentifier == tables.identifier ? id.rowKey : nil
  }
}

extension ManagedObject {
  /// The key of the object's row in child contexts.
  final var rowKey: Int64 { table?.isTemporary == false ? key : -key }

  /// Whether the object is new, or represents a new object of a parent context.
  final var hasNoRow: Bool { change == .inserted || key < 0 }

  /// Returns the row with the object's unsaved changes; nil for an object without values.
  final func presentRow(_ writers: inout SnapshotWriters) -> RowSnapshot? {
    if let snapshot, !hasPendingStoredValues { return snapshot }
    guard snapshot != nil || change == .inserted else { return nil }
    return writers.snapshot(of: self, version: change == .inserted ? insertedVersion : snapshot?.version ?? 1)
  }

  private final var hasPendingStoredValues: Bool {
    !pending.isEmpty && layout.storedSlots.contains { pending[$0.slot] != nil }
  }

  /// Copies the values of transient attributes, which aren't part of a row, from the parent's object if it is
  /// registered.
  final func adoptTransientValuesOfParent() {
    guard let parent = table?.context.parent, let original = parent.registeredObject(for: objectID) else { return }
    guard !original.pending.isEmpty else { return }
    for slot in layout.transientSlots {
      if let value = original.pending[slot] { setPending(value, at: slot) }
    }
  }
}
