/// The queries that a fetch sends to the stores.
extension FetchPass {
  /// Returns the queries for all stores.
  ///
  /// - Parameter identifiersOnly: Whether only the identifiers of the results are needed.
  func questions(identifiersOnly: Bool) -> [StoreQuery] {
    sources.compactMap { question(for: $0, identifiersOnly: identifiersOnly) }
  }

  /// Returns the queries whose rows are counted, and whether their numbers are subtracted from the total: rows of
  /// overlaid objects count only if the store's answer includes them.
  func counts() -> [(question: StoreQuery, isSubtracted: Bool)] {
    sources.flatMap { source -> [(question: StoreQuery, isSubtracted: Bool)] in
      guard var query = self.query(for: source, keysOnly: true) else { return [] }
      (query.sort, query.limit, query.offset) = ([], nil, 0)
      let all = (question: StoreQuery(tables: source.tables, query: query), isSubtracted: false)
      // In order, so that a later pass over the same objects has the same query.
      let keys = overlaid.compactMap { context.rowKey(of: $0, in: source.tables) }.sorted()
      guard !keys.isEmpty else { return [all] }
      query.keys = keys
      return [all, (question: StoreQuery(tables: source.tables, query: query), isSubtracted: true)]
    }
  }

  func question(for source: Source, identifiersOnly: Bool) -> StoreQuery? {
    let keysOnly =
      identifiersOnly && areIdentifiersEnough
      || !request.includesPropertyValues && order.isEmpty && source.rest == nil
    return query(for: source, keysOnly: keysOnly).map { StoreQuery(tables: source.tables, query: $0) }
  }

  func ask(_ question: StoreQuery) throws -> RowBatch {
    try question.rows(monitor: context.readMonitor, held: held(question.tables))
  }

  /// Whether the identifiers of the results can be determined without creating objects.
  var areIdentifiersEnough: Bool {
    !hasRest && !sortsInMemory && (order.isEmpty || (added.isEmpty && sources.count == 1))
  }

  /// Returns nil if none of the request's identifiers can be a row of the store.
  func query(for source: Source, keysOnly: Bool) -> RowQuery? {
    var query = RowQuery(entity: layout.entity, includesSubentities: request.includesSubentities, keysOnly: keysOnly)
    query.select(by: source.division)
    query.now = now
    query.sort = source.isOrdered ? request.sortDescriptors : []
    if let ids = request.objectIDs {
      query.keys = ids.map(\.current).compactMap { id in
        guard context.layout(named: id.entityName)?.rootIndex == layout.rootIndex else { return nil }
        return context.rowKey(of: id, in: source.tables)
      }
      if query.keys?.isEmpty == true { return nil }
    }
    if isWindowedByStore {
      query.limit = request.fetchLimit > 0 ? request.fetchLimit : nil
      query.offset = request.fetchOffset
    } else if request.fetchLimit > 0, source.rest == nil, source.isOrdered {
      query.limit = request.fetchLimit.clampedSum(request.fetchOffset).clampedSum(overlaid.count)
    }
    return query
  }
}

extension Int {
  /// Returns the sum with a nonnegative number, clamped to the maximum on overflow.
  func clampedSum(_ other: Int) -> Int {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? .max : sum
  }
}
