import Foundation

extension FetchPass {
  /// Hands out the results in groups.
  func forEachBatch(size: Int, _ body: ([ManagedObject]) throws -> Void) throws {
    guard order.isEmpty, request.fetchLimit == 0, request.fetchOffset == 0, request.objectIDs == nil else {
      let ids = try objectIDs()
      for start in stride(from: 0, to: ids.count, by: size) {
        let wanted = Array(ids[start..<min(start + size, ids.count)])
        var group = FetchRequest(request.entityName, objectIDs: wanted)
        group.returnsObjectsAsFaults = request.returnsObjectsAsFaults
        group.relationshipKeyPathsForPrefetching = request.relationshipKeyPathsForPrefetching
        let found = try FetchPass(group, in: context).objects()
        let byID = Dictionary(found.map { ($0.objectID, $0) }, uniquingKeysWith: { first, _ in first })
        try body(wanted.compactMap { byID[$0] })
      }
      return
    }
    for source in sources {
      let (store, keysOnly) = (source.store, !request.includesPropertyValues && source.rest == nil)
      var query = query(for: source, keysOnly: keysOnly) ?? RowQuery(entity: layout.entity)
      query.limit = size
      query.afterKey = .min
      while let after = query.afterKey {
        let batch = try store.rows(query)
        query.afterKey = batch.rows.count < size ? nil : batch.rows.last.map(\.key)
        let objects = try matching(make(batch, from: store), source)
        if !objects.isEmpty {
          try PrefetchPass(request.relationshipKeyPathsForPrefetching, of: layout, in: context).run(objects)
          try body(objects)
        }
        // A store that gave the same rows again would keep the walk going for ever.
        if let next = query.afterKey, next <= after { return }
      }
    }
    for start in stride(from: 0, to: added.count, by: size) {
      try body(Array(added[start..<min(start + size, added.count)]))
    }
  }
}
