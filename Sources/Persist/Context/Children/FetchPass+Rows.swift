/// A parent context's fetch for a child, which returns rows.
extension FetchPass {
  /// Returns the results as rows, including the parent's unsaved changes.
  ///
  /// If no change of the parent affects the set of rows or their order, the store's rows are returned, with the current
  /// values of the parent's registered objects, and without creating objects.
  func rows(_ query: RowQuery, _ monitor: ReadMonitor?) throws -> RowBatch {
    if overlaid.isEmpty, added.isEmpty, let source = sources.first, source.rest == nil, source.isOrdered {
      guard var passed = self.query(for: source, keysOnly: query.keysOnly) else { return RowBatch() }
      passed.afterKey = query.afterKey
      return try withPresentValues(source.store.rows(passed, monitor: monitor), source)
    }
    if let after = query.afterKey { return try rows(after: after, query, monitor) }
    return try context.rows(
      of: objects { try $0.rows(monitor: monitor) }, keysOnly: query.keysOnly)
  }

  /// Returns the first rows after a key, by key: one step of a walk.
  private func rows(after key: Int64, _ query: RowQuery, _ monitor: ReadMonitor?) throws -> RowBatch {
    let limit = query.limit ?? .max
    var found = added.filter { $0.rowKey > key }
    for source in sources {
      guard var step = self.query(for: source, keysOnly: query.keysOnly) else { continue }
      step.limit = query.limit?.clampedSum(overlaid.count)
      step.afterKey = key
      var stored: [ManagedObject] = []
      while stored.count < limit, let after = step.afterKey {
        let batch = try source.store.rows(step, monitor: monitor)
        stored += try matching(batch, source)
        let last = batch.greatestReadKey ?? after
        // A store that returned the same rows again would make the walk endless.
        step.afterKey = step.limit.map { batch.readCount == $0 } == true && last > after ? last : nil
      }
      found += stored
    }
    return try context.rows(
      of: Array(found.sorted { $0.rowKey < $1.rowKey }.prefix(limit)), keysOnly: query.keysOnly)
  }

  /// Replaces the store's rows of registered objects with their current values.
  private func withPresentValues(_ batch: RowBatch, _ source: Source) -> RowBatch {
    let table = source.tables.table(for: layout)
    guard table.map.count > 0 else { return batch }
    var writers = SnapshotWriters(layouts: context.layouts, unsaved: nil, expectedRows: context.graph.updated.count)
    var batch = batch
    for (index, row) in batch.enumerated() where row.snapshot != nil {
      guard let object = table.map[row.key], let present = object.presentRow(&writers) else { continue }
      batch[index] = RowBatch.Row(key: row.key, entityIndex: row.entityIndex, snapshot: present)
    }
    return batch
  }
}
