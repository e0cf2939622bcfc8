import Foundation

extension ManagedObjectContext {
  /// The objects that a request asks for, with this context's unsaved changes taken into account.
  ///
  /// Objects that are alive already keep their values, changed or not; their rows aren't read into them again.
  ///
  /// - Throws: ``PersistError/Code/unknownEntity``, ``PersistError/Code/unknownProperty`` for a sort key that isn't an
  ///   attribute, the store's errors, and what a getter couldn't throw before.
  public func fetch(_ request: FetchRequest) throws -> [ManagedObject] {
    try prepareToFetch()
    return try FetchPass(request, in: self).objects()
  }

  /// The objects that a request asks for, which are of one class.
  ///
  /// - Throws: as ``fetch(_:)``, and ``PersistError/Code/typeMismatch`` where an object is of another class.
  public func fetch<Object: ManagedObject>(_ type: Object.Type, _ request: FetchRequest) throws -> [Object] {
    try fetch(request).map { object in
      guard let object = object as? Object else {
        throw PersistError(
          .typeMismatch, at: .entity(object.entity.name),
          "An object is of class \(Swift.type(of: object)), not \(Object.self).",
          fix: "Register \(Object.self) with ManagedObjectClasses before the context is made.")
      }
      return object
    }
  }

  /// The identifiers of the objects that a request asks for; no object is made.
  public func fetchObjectIDs(_ request: FetchRequest) throws -> [ManagedObjectID] {
    try prepareToFetch()
    return try FetchPass(request, in: self).objectIDs()
  }

  /// How many objects a request asks for; no object is made.
  public func count(_ request: FetchRequest) throws -> Int {
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
  public func forEachBatch(
    of request: FetchRequest, size batchSize: Int = 1000, _ body: ([ManagedObject]) throws -> Void
  ) throws {
    try prepareToFetch()
    try FetchPass(request, in: self).forEachBatch(size: max(1, batchSize), body)
  }

  private func prepareToFetch() throws {
    processTrackedChanges()
    try throwDeferredError()
  }

  /// Reads the rows of those faults that have none yet, with a few statements for all. They stay faults.
  func prefetchRows(of objects: some Sequence<ManagedObject>) {
    var waiting: [ObjectIdentifier: [ManagedObject]] = [:]
    var count = 0
    for object in objects where object.loading == .fault && object.snapshot == nil && object.table?.store != nil {
      waiting[ObjectIdentifier(object.layout), default: []].append(object)
      count += 1
    }
    // A single row is read as well when it is used.
    guard count > 1 else { return }
    do {
      for objects in waiting.values { try readRows(of: objects) }
    } catch {
      deferError(error)
    }
  }

  /// Reads the rows of faults of one entity; those without a row stay without.
  func readRows(of objects: [ManagedObject]) throws {
    for (_, objects) in Dictionary(grouping: objects, by: { $0.table.map(ObjectIdentifier.init) }) {
      guard let first = objects.first, let table = first.table, let store = table.store else { continue }
      let query = RowQuery(entity: first.layout.entity, includesSubentities: false, keys: objects.map(\.key))
      for row in try store.rows(query).rows { table.map[row.key]?.snapshot = row.snapshot }
    }
  }
}
