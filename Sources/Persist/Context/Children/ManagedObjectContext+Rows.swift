/// What a child context needs of its parent's objects: their rows as they are now, unsaved changes included.
extension ManagedObjectContext {
  /// The object of a row where it is alive, and a new object by its temporary number.
  func registeredObject(ofRow key: Int64, _ layout: EntityLayout, in tables: StoreTables) -> ManagedObject? {
    if key < 0, let object = unsavedTable.map[-key] { return object }
    return tables.table(for: layout).map[key]
  }

  /// The rows of objects, without those that are deleted or gone. Faults have their rows read, with one statement for
  /// each entity, and stay faults.
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

  /// What the rows of a store call an object; nil for an object of another store.
  func rowKey(of id: ManagedObjectID, in tables: StoreTables) -> Int64? {
    if id.isTemporaryID { return parent == nil ? nil : id.rowKey }
    return id.storeIdentifier == tables.identifier ? id.rowKey : nil
  }
}

extension ManagedObject {
  /// What a child context calls the object's row.
  final var rowKey: Int64 { table?.isTemporary == false ? key : -key }

  /// Whether the object is new, or stands for a new one of a parent context.
  final var hasNoRow: Bool { change == .inserted || key < 0 }

  /// The row with the object's unsaved changes; nil for an object without values.
  final func presentRow(_ writers: inout SnapshotWriters) -> RowSnapshot? {
    if let snapshot, !hasPendingStoredValues { return snapshot }
    guard snapshot != nil || change == .inserted else { return nil }
    return writers.snapshot(of: self, version: change == .inserted ? insertedVersion : snapshot?.version ?? 1)
  }

  private final var hasPendingStoredValues: Bool {
    !pending.isEmpty && layout.storedSlots.contains { pending[$0.slot] != nil }
  }

  /// Values of transient attributes stand in no row: a child's object takes them from its parent's, where that is
  /// alive.
  final func takeTransientValuesOfParent() {
    guard let parent = table?.context.parent, let original = parent.registeredObject(for: objectID) else { return }
    guard !original.pending.isEmpty else { return }
    for slot in layout.transientSlots {
      if let value = original.pending[slot] { setPending(value, at: slot) }
    }
  }
}
