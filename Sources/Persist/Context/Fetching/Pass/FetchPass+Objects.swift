/// Creates and merges the objects of rows.
extension FetchPass {
  /// Returns the objects of a query's rows, many of which are read while the objects of others are created.
  func objects(of question: StoreQuery) throws -> [ManagedObject] {
    // Observers may read the store, and are called once all rows are read.
    context.observedChanges.begin()
    defer { context.observedChanges.end() }
    var objects: [ManagedObject] = []
    let registered = question.tables.table(for: layout).map.count
    try question.forEachPart(held: held(question.tables), in: context) { rows in
      if objects.isEmpty {
        objects = make(rows, from: question.tables)
      } else {
        // If there is more than one part, the result usually has about as many objects as are registered.
        if objects.capacity < registered { objects.reserveCapacity(registered) }
        forEachObject(of: rows, from: question.tables) { objects.append($0) }
      }
    }
    return objects
  }

  /// Returns the objects of rows.
  ///
  /// - Parameter withOverlaid: Whether to include objects for which the stores' answer isn't valid.
  func make(_ batch: RowBatch, from tables: StoreTables, withOverlaid: Bool = false) -> [ManagedObject] {
    if batch.isEmpty { return [] }
    return Array(unsafeUninitializedCapacity: batch.count) { objects, count in
      forEachObject(of: batch, from: tables, withOverlaid: withOverlaid) { object in
        objects.initializeElement(at: count, to: object)
        count += 1
      }
    }
  }

  /// Calls a closure with the object of each row, in order. Inlined, so that nothing is called for each.
  @inline(__always)
  private func forEachObject(
    of batch: RowBatch, from tables: StoreTables, withOverlaid: Bool = false, _ body: (ManagedObject) -> Void
  ) {
    context.observedChanges.begin()
    defer { context.observedChanges.end() }
    let table = tables.table(for: layout)
    // In an empty context, the rows soon become objects of it; otherwise, the number of new objects is unknown.
    if table.map.count == 0 { table.reserve(batch.count) }
    let isNewest = context.isReadingNewest
    var faults = FaultFactory(context, table)
    var classes = classes
    defer { self.classes = classes }
    for entry in batch.entries {
      let object: ManagedObject
      if let registered = table.map[entry.key] {
        if !withOverlaid, !overlaid.isEmpty, overlaid.contains(registered.objectID) { continue }
        update(registered, with: entry, of: batch, isNewest: isNewest)
        object = registered
      } else {
        object = faults.makeFault(key: entry.key, entityIndex: Int(entry.entityIndex))
        object.begin(with: batch.snapshot(of: entry))
        if isNewest { context.recordRow(of: object) }
      }
      classes.insert(of: object)
      body(object)
    }
  }

  /// Gives a registered object the values that were read for it, if it adopts them.
  private func update(_ object: ManagedObject, with entry: RowBatch.Entry, of batch: RowBatch, isNewest: Bool) {
    // The row exists again.
    if object.loading == .missing, object.change == .none { object.forgetRow() }
    guard object.layout.index == Int(entry.entityIndex), refreshes(object), let snapshot = batch.snapshot(of: entry)
    else { return }
    if isNewest { context.recordRow(of: object) }
    object.find(snapshot)
    guard object.loading == .loaded else { return }
    object.replaceMembers(with: [])
    object.companions = nil
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

  /// The objects among ``added`` that have rows in a store, sorted by key. Empty if the request has an order: all of
  /// them are then in ``unplaced``.
  func changed(in source: Source) -> [ManagedObject] {
    guard order.isEmpty, !overlaid.isEmpty else { return [] }
    return added.filter { isRow($0, of: source) }.sorted { $0.key < $1.key }
  }

  /// The objects among ``added`` that have no place by key among a store's rows.
  var unplaced: [ManagedObject] {
    guard order.isEmpty, !overlaid.isEmpty else { return added }
    return added.filter { object in !sources.contains { isRow(object, of: $0) } }
  }

  private func isRow(_ object: ManagedObject, of source: Source) -> Bool {
    object.key > 0 && object.table?.siblings === source.tables
  }

  /// Inserts results in order of their keys into a store's results.
  func inserting<Result>(_ changed: [Result], into stored: [Result], key: (Result) -> Int64) -> [Result] {
    if changed.isEmpty { return stored }
    var results: [Result] = []
    results.reserveCapacity(stored.count + changed.count)
    stored.forEach(inserting: changed, by: key) { results.append($0) }
    return results
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
      if order.isAscending(evaluated(second[j]), evaluated(first[i])) {
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
