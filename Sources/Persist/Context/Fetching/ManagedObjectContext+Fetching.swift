import Foundation

extension ManagedObjectContext {
  /// What a request asks for, with this context's unsaved changes taken into account.
  ///
  /// Objects that are alive already keep their values, changed or not; their rows aren't read into them again unless
  /// ``FetchRequest/shouldRefreshRefetchedObjects`` asks for it.
  ///
  /// - Throws: ``PersistenceError/Code/unknownEntity``, ``PersistenceError/Code/unknownProperty`` for a sort key or
  ///   another key that leads nowhere, ``PersistenceError/Code/typeMismatch`` where an object is of another class than
  ///   asked for, the store's errors, and what a getter couldn't throw before.
  public func fetch<Result: FetchRequestResult>(_ request: FetchRequest<Result>) throws -> [Result] {
    try prepareToFetch()
    switch Result.fetchedForm {
    case .objects: return try Result.typed(FetchPass(request, in: self).objects()) { .object($0) }
    case .identifiers: return try Result.typed(FetchPass(request, in: self).objectIDs()) { .identifier($0) }
    case .rows: return try Result.typed(DictionaryPass(request, in: self).rows()) { .row($0) }
    case .count: return try Result.typed([FetchPass(request, in: self).count()]) { .count($0) }
    }
  }

  /// The objects that a request asks for, which are of one class.
  ///
  /// - Throws: as ``fetch(_:)``.
  public func fetch<Object: ManagedObject, Result: ManagedObject>(
    _ type: Object.Type, _ request: FetchRequest<Result>
  ) throws -> [Object] {
    try fetch(request.returning(type))
  }

  /// The identifiers of the objects that a request asks for; no object is made.
  public func fetchObjectIDs<Result>(_ request: FetchRequest<Result>) throws -> [ManagedObjectID] {
    try prepareToFetch()
    return try FetchPass(request, in: self).objectIDs()
  }

  /// How many objects a request asks for; no object is made.
  public func count<Result>(for request: FetchRequest<Result>) throws -> Int {
    try prepareToFetch()
    return try FetchPass(request, in: self).count()
  }

  /// Walks through what a request asks for in groups, so that memory follows the size of a group.
  ///
  /// Without an order the walk is by key and needs nothing but the group. With one the identifiers of all results are
  /// read first. Objects of a group that the program doesn't hold and doesn't
  /// change go before the next group is read.
  ///
  /// - Parameters:
  ///   - batchSize: how many objects to read at once, at least 1.
  ///   - body: is given each group; what it throws ends the walk.
  public func forEachBatch<Object: ManagedObject>(
    of request: FetchRequest<Object>, size batchSize: Int = 1000, _ body: ([Object]) throws -> Void
  ) throws {
    try prepareToFetch()
    try FetchPass(request, in: self).forEachBatch(size: max(1, batchSize)) { objects in
      try body(Object.typed(objects) { .object($0) })
    }
  }

  /// The store that an object's row is in, or will be; empty where there is none for it.
  func storeIdentifier(of object: ManagedObject) -> String {
    if let tables = object.table?.siblings { return tables.identifier }
    // No store for it: then it is in none of those that are asked.
    return (try? storeForInsert(of: object))?.identifier ?? ""
  }

  /// Another context over the same rows, without this one's unsaved changes.
  func savedView() -> ManagedObjectContext {
    let saved = parent.map(ManagedObjectContext.init(parent:)) ?? ManagedObjectContext(persistentStoreCoordinator)
    saved.readMonitor = readMonitor
    return saved
  }

  func prepareToFetch() throws {
    mergeArrivedChanges()
    processTrackedChanges()
    try throwDeferredError()
  }

  /// Reads the rows of those faults that have none yet, with a few statements for all. They stay faults.
  func prefetchRows(of objects: some Collection<ManagedObject>) {
    guard objects.contains(where: \.isWithoutRow) else { return }
    let waiting = objects.filter(\.isWithoutRow)
    // A single row is read as well when it is used.
    guard waiting.count > 1 else { return }
    do { try readRows(of: waiting) } catch { deferError(error) }
  }

  /// Reads the rows of faults, with one statement for each entity and store; those without a row stay without.
  func readRows(of objects: [ManagedObject]) throws {
    struct Place: Hashable {
      let table: ObjectIdentifier?
      let layout: ObjectIdentifier
    }
    let places = Dictionary(grouping: objects) { object in
      Place(table: object.table.map(ObjectIdentifier.init), layout: ObjectIdentifier(object.layout))
    }
    for objects in places.values {
      guard let first = objects.first, let table = first.table, let store = table.store else { continue }
      let query = RowQuery(entity: first.layout.entity, includesSubentities: false, keys: objects.map(\.key))
      for row in try store.rows(query) { table.map[row.key]?.snapshot = row.snapshot }
    }
  }
}

extension ManagedObject {
  /// Whether the object is a fault whose row wasn't read yet.
  final var isWithoutRow: Bool { loading == .fault && snapshot == nil && table?.store != nil }
}
