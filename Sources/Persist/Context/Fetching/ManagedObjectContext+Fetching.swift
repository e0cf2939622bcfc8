import Foundation

extension ManagedObjectContext {
  /// Fetches the results of a request, taking this context's unsaved changes into account.
  ///
  /// Registered objects keep their values, changed or not; their rows aren't read again unless
  /// ``FetchRequest/shouldRefreshRefetchedObjects`` is set.
  ///
  /// - Throws: ``PersistenceError/Code/unknownEntity``, ``PersistenceError/Code/unknownProperty`` for a sort key or
  ///   other key that can't be resolved, ``PersistenceError/Code/typeMismatch`` if an object has another class than
  ///   requested, the store's errors, and earlier errors of getters.
  public func fetch<Result: FetchRequestResult>(_ request: FetchRequest<Result>) throws -> [Result] {
    try prepareToFetch()
    switch Result.fetchedForm {
    case .objects:
      let pass = try FetchPass(request, in: self)
      let objects = try pass.objects()
      return try Result.typed(objects, of: pass.classes)
    case .identifiers: return try Result.typed(FetchPass(request, in: self).objectIDs()) { .identifier($0) }
    case .rows: return try Result.typed(DictionaryPass(request, in: self).rows()) { .row($0) }
    case .count: return try Result.typed([FetchPass(request, in: self).count()]) { .count($0) }
    }
  }

  /// Fetches the objects of a request as instances of a class.
  ///
  /// - Throws: The errors of ``fetch(_:)``.
  public func fetch<Object: ManagedObject, Result: ManagedObject>(
    _ type: Object.Type, _ request: FetchRequest<Result>
  ) throws -> [Object] {
    try fetch(request.returning(type))
  }

  /// Fetches the identifiers of a request's objects, without creating the objects.
  public func fetchObjectIDs<Result>(_ request: FetchRequest<Result>) throws -> [ManagedObjectID] {
    try prepareToFetch()
    return try FetchPass(request, in: self).objectIDs()
  }

  /// Counts the objects of a request, without creating them.
  public func count<Result>(for request: FetchRequest<Result>) throws -> Int {
    try prepareToFetch()
    return try FetchPass(request, in: self).count()
  }

  /// Processes the objects of a request in batches, so that memory use depends on the batch size.
  ///
  /// Without an order, the results are read by key, with only one batch in memory. With an order, the identifiers of
  /// all results are read first. Objects of a batch that the program neither holds nor changes are released before the
  /// next batch is read. The closure may save and delete objects: new ones are visited once, and those that it has
  /// deleted aren't.
  ///
  /// - Parameters:
  ///   - request: The request whose results are processed.
  ///   - batchSize: The number of objects to read at once, at least 1.
  ///   - body: Called with each batch; an error ends the iteration.
  public func forEachBatch<Object: ManagedObject>(
    of request: FetchRequest<Object>, size batchSize: Int = 1000, _ body: ([Object]) throws -> Void
  ) throws {
    try prepareToFetch()
    try FetchPass(request, in: self).forEachBatch(size: max(1, batchSize)) { objects in
      try body(Object.typed(objects) { .object($0) })
    }
  }

  /// Creates a context over the newest rows of the stores.
  func newestView() -> ManagedObjectContext {
    ManagedObjectContext(persistentStoreCoordinator, classes: classes, from: sharedClasses, hooks: hooks)
  }

  package func prepareToFetch() throws {
    mergeArrivedChanges()
    processTrackedChanges()
    try throwDeferredError()
  }
}
