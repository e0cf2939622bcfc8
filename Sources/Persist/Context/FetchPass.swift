import Foundation

/// One fetch: what the stores have, overlaid with what the context changed.
///
/// Rows that the context deleted are left out. Where there is an order, objects that the context changed are left out
/// of the stores' answer too, and put to their places among it with the new ones, by their present values.
struct FetchPass {
  let context: ManagedObjectContext
  let request: FetchRequest
  let layout: EntityLayout
  let order: ObjectOrder
  let stores: [any PersistentStore]
  /// Objects of the context that the stores' answer isn't true for: deleted ones, and changed ones where there is an
  /// order.
  let overlaid: Set<ManagedObjectID>
  /// Objects of the context that are results beside the stores' rows.
  let added: [ManagedObject]

  init(_ request: FetchRequest, in context: ManagedObjectContext) throws {
    self.context = context
    self.request = request
    layout = context.layout(of: try context.entity(named: request.entityName))
    order = try ObjectOrder(request.sortDescriptors, of: layout)
    stores = context.coordinator.stores(holding: layout.entity)
    guard request.includesPendingChanges else {
      (overlaid, added) = ([], [])
      return
    }
    let (layout, wantedIDs) = (layout, request.objectIDs.map(Set.init))
    func isResult(_ object: ManagedObject) -> Bool {
      guard request.includesSubentities || object.layout === layout else { return false }
      guard object.layout.isKind(ofEntityAt: layout.index) else { return false }
      return wantedIDs?.contains(object.objectID) ?? true
    }
    let deleted = context.deleted.objects.filter(isResult)
    let changed = order.isEmpty ? [] : context.updated.objects.filter(isResult)
    overlaid = Set((deleted + changed).map(\.objectID))
    added = context.inserted.objects.filter(isResult) + changed
  }

  func objects() throws -> [ManagedObject] {
    var results: [ManagedObject] = []
    for store in stores {
      guard let query = query(for: store, keysOnly: !request.includesPropertyValues && order.isEmpty) else { continue }
      results = merge(results, make(try store.rows(query), from: store))
    }
    results = window(merge(results, order.sorted(added)))
    if !request.returnsObjectsAsFaults || context.inserted.objects.contains(where: isOfEntity) {
      context.prefetchRows(of: results)
      for object in results { object.fulfil() }
      try context.throwDeferredError()
    }
    return results
  }

  func objectIDs() throws -> [ManagedObjectID] {
    guard order.isEmpty || (added.isEmpty && stores.count == 1) else { return try objects().map(\.objectID) }
    var results: [ManagedObjectID] = []
    for store in stores {
      guard let query = query(for: store, keysOnly: true) else { continue }
      for row in try store.rows(query).rows {
        let entity = context.layouts[row.entityIndex].entity
        let id = ManagedObjectID(entityName: entity.name, storeIdentifier: store.identifier, key: .permanent(row.key))
        if !overlaid.contains(id) { results.append(id) }
      }
    }
    return window(results + added.map(\.objectID))
  }

  func count() throws -> Int {
    var total = added.count - overlaid.count
    for store in stores {
      guard var query = query(for: store, keysOnly: true) else { continue }
      (query.sort, query.limit, query.offset) = ([], nil, 0)
      total += try store.count(query)
    }
    let rest = max(0, total - request.fetchOffset)
    return request.fetchLimit > 0 ? min(rest, request.fetchLimit) : rest
  }

  private func isOfEntity(_ object: ManagedObject) -> Bool { object.layout.isKind(ofEntityAt: layout.index) }

  /// Whether one store's answer alone, as it stands, has the right window.
  private var isWindowedByStore: Bool { stores.count == 1 && overlaid.isEmpty && added.isEmpty }

  /// Nil where the request's identifiers name none of the store's rows.
  func query(for store: any PersistentStore, keysOnly: Bool) -> RowQuery? {
    var query = RowQuery(entity: layout.entity, includesSubentities: request.includesSubentities, keysOnly: keysOnly)
    query.sort = request.sortDescriptors.map { RowQuery.SortOrder($0.key, isAscending: $0.isAscending) }
    if let ids = request.objectIDs {
      query.keys = ids.compactMap { id in
        guard id.storeIdentifier == store.identifier, let entity = context.layout(named: id.entityName),
          entity.rootIndex == layout.rootIndex
        else { return nil }
        return id.primaryKey
      }
      if query.keys?.isEmpty == true { return nil }
    }
    if isWindowedByStore {
      query.limit = request.fetchLimit > 0 ? request.fetchLimit : nil
      query.offset = request.fetchOffset
    } else if request.fetchLimit > 0 {
      query.limit = request.fetchOffset + request.fetchLimit + overlaid.count
    }
    return query
  }

  private func window<Result>(_ results: [Result]) -> [Result] {
    if isWindowedByStore { return results }
    let rest = results.dropFirst(request.fetchOffset)
    return Array(request.fetchLimit > 0 ? rest.prefix(request.fetchLimit) : rest)
  }

  func make(_ batch: RowBatch, from store: any PersistentStore) -> [ManagedObject] {
    let tables = context.tables(of: store)
    let table = tables.table(for: layout)
    var objects: [ManagedObject] = []
    objects.reserveCapacity(batch.rows.count)
    for row in batch.rows {
      if let object = table.map[row.key] {
        if !overlaid.isEmpty, overlaid.contains(object.objectID) { continue }
        if object.loading == .fault, object.layout.index == row.entityIndex, let snapshot = row.snapshot {
          object.snapshot = snapshot
        }
        objects.append(object)
      } else {
        let object = context.makeFault(context.layouts[row.entityIndex], key: row.key, id: nil, in: table)
        object.snapshot = row.snapshot
        objects.append(object)
      }
    }
    return objects
  }

  /// Two lists that are in order each, as one; of equal objects those of the first list come first.
  private func merge(_ first: [ManagedObject], _ second: [ManagedObject]) -> [ManagedObject] {
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
