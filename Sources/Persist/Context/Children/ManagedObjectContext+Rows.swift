/// The current rows of a parent's objects for its child contexts, including unsaved changes.
extension ManagedObjectContext {
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
}

extension ManagedObject {
  /// Returns the row with the object's unsaved changes; nil for an object without values.
  final func presentRow(_ writers: inout SnapshotWriters) -> RowSnapshot? {
    if let snapshot, !hasPendingStoredValues { return snapshot }
    guard snapshot != nil || change == .inserted else { return nil }
    return writers.snapshot(of: self, version: change == .inserted ? insertedVersion : snapshot?.version ?? 1)
  }

  private final var hasPendingStoredValues: Bool {
    layout.storedSlots.contains { pending.contains($0.slot) }
  }
}
