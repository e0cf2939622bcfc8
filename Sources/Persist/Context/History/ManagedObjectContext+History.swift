extension ManagedObjectContext {
  /// Fetches or deletes transactions in the history of the stores: see
  /// ``PersistentStoreCoordinator/execute(_:)``.
  ///
  /// - Throws: ``PersistenceError/Code/historyTokenExpired`` if transactions after the request's token were deleted or
  ///   never recorded; ``PersistenceError/Code/invalidRequest`` if none of the stores has a history; the errors of
  ///   predicates and stores.
  @discardableResult
  public func execute(_ request: HistoryChangeRequest) throws -> HistoryResult {
    try throwDeferredError()
    return try persistentStoreCoordinator.execute(request)
  }
}
