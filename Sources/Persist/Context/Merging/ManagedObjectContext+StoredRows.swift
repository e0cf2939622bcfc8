extension ManagedObjectContext {
  /// Returns the currently stored rows of objects, regardless of the objects' state; deleted rows are omitted.
  func storedRows(
    of objects: [ManagedObject], in store: any RowSource
  ) throws -> [ManagedObjectID: RowSnapshot] {
    var rows: [ManagedObjectID: RowSnapshot] = Dictionary()
    for (_, objects) in Dictionary(grouping: objects, by: { ObjectIdentifier($0.layout) }) {
      guard let entity = objects.first?.layout.entity else { continue }
      let byKey = Dictionary(objects.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
      let query = RowQuery(entity: entity, includesSubentities: false, keys: objects.map(\.key))
      for row in try store.rows(query) {
        if let object = byKey[row.key] { rows[object.objectID] = row.snapshot }
      }
    }
    return rows
  }

  /// Whether others have changed or deleted an object's row since it was read.
  func isOutdated(_ object: ManagedObject) -> Bool {
    guard let snapshot = object.snapshot, let store = object.table?.store else { return false }
    do {
      return try storedRows(of: [object], in: store)[object.objectID]?.version != snapshot.version
    } catch {
      deferError(error)
      return false
    }
  }
}
