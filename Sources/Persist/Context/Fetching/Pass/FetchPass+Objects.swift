/// Creates and merges the objects of rows.
extension FetchPass {
  /// Returns the objects of rows.
  ///
  /// - Parameter withOverlaid: Whether to include objects for which the stores' answer isn't valid.
  func make(_ batch: RowBatch, from tables: StoreTables, withOverlaid: Bool = false) -> [ManagedObject] {
    context.observedChanges.begin()
    defer { context.observedChanges.end() }
    let table = tables.table(for: layout)
    var objects: [ManagedObject] = []
    objects.reserveCapacity(batch.count)
    // In an empty context, the rows soon become objects of it; otherwise, the number of new objects is unknown.
    if table.map.count == 0 { table.map.reserve(batch.count) }
    let isNewest = context.isReadingNewest
    for entry in batch.entries {
      let entityIndex = Int(entry.entityIndex)
      if let object = table.map[entry.key] {
        if !withOverlaid, !overlaid.isEmpty, overlaid.contains(object.objectID) { continue }
        // The row exists again.
        if object.loading == .missing, object.change == .none { object.forgetRow() }
        if object.layout.index == entityIndex, refreshes(object), let snapshot = batch.snapshot(of: entry) {
          if isNewest { context.noteRow(of: object) }
          object.snapshot = snapshot
          if object.loading == .loaded {
            object.replaceMembers(with: [])
            object.companions = nil
          }
        }
        objects.append(object)
      } else {
        let object = context.makeFault(context.layouts[entityIndex], key: entry.key, in: table)
        object.snapshot = batch.snapshot(of: entry)
        if isNewest { context.noteRow(of: object) }
        objects.append(object)
      }
    }
    return objects
  }

  /// Rows whose objects are registered and keep their values.
  func held(_ tables: StoreTables) -> KnownRows? {
    let table = tables.table(for: layout)
    guard table.map.count > 0, !request.shouldRefreshRefetchedObjects else { return nil }
    return KnownRows { key, version in
      guard let object = table.map[key] else { return false }
      return object.loading != .fault || object.snapshot?.version == version
    }
  }

  /// Whether a registered object adopts the values read for it.
  private func refreshes(_ object: ManagedObject) -> Bool {
    object.loading == .fault || (request.shouldRefreshRefetchedObjects && object.change == .none)
  }

  /// Merges two sorted lists; of equal objects, those of the first list come first.
  func merge(_ first: [ManagedObject], _ second: [ManagedObject]) -> [ManagedObject] {
    if first.isEmpty { return second }
    if second.isEmpty { return first }
    if order.isEmpty { return first + second }
    var merged: [ManagedObject] = []
    merged.reserveCapacity(first.count + second.count)
    var (i, j) = (0, 0)
    while i < first.count, j < second.count {
      if order.isAscending(second[j], first[i]) {
        merged.append(second[j])
        j += 1
      } else {
        merged.append(first[i])
        i += 1
      }
    }
    return merged + first[i...] + second[j...]
  }
}
