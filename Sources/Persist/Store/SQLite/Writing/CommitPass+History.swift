/// Recording a save in the store's history.
extension CommitPass {
  /// Records the deletions, while the rows still have the values that are kept.
  func recordDeletions() throws {
    guard let writer = history else { return }
    for row in writes.deletes {
      try writer.recordDeletion(of: key(of: row.key, row.entity), row.entity.index)
    }
  }

  /// Records everything else, after it was written.
  func recordChanges() throws {
    guard let writer = history else { return }
    for (insert, key) in zip(writes.inserts, insertedKeys) {
      try writer.record(.insert, insert.entity.index, key: key)
    }
    try writes.forEachRecordedUpdate { rowKey, entity, slots in
      try writer.recordUpdate(of: key(of: rowKey, entity), entity.index, changing: slots)
    }
  }
}
