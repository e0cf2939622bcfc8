extension PersistentStoreCoordinator {
  /// The steps of earlier migrations that wait in the open stores.
  public func deferredSteps() throws -> [DeferredStep] { try openStores.flatMap { try $0.deferredSteps() } }

  /// Carries out the steps that migrations left for later: columns of removed attributes go, and indexes are made.
  ///
  /// ``AutomaticMigrator/defersWork`` leaves them. Until they are done the stores are whole, and everything is fetched
  /// and saved as ever, only with larger files and fewer indexes. Call it when the program has time, again and again
  /// with a little each time if need be:
  ///
  /// ```swift
  /// while try !coordinator.finishDeferredMigration(within: .milliseconds(200)) { await nextIdleMoment() }
  /// ```
  ///
  /// Each step is a transaction of its own, for which others that write wait. A step isn't cut into parts: where there
  /// is any, at least one is done, however short the time.
  ///
  /// - Parameter time: after which no further step is begun; nil for all.
  /// - Returns: whether nothing waits any more.
  /// - Throws: ``PersistenceError/Code/storeBusy``, ``PersistenceError/Code/storeReadOnly`` and errors of the file. The
  ///   steps that were done stay done.
  @discardableResult
  public func finishDeferredMigration(within time: Duration? = nil) throws -> Bool {
    let deadline = time.map { ContinuousClock.now + $0 }
    var (waiting, hasBegun) = (0, false)
    for store in openStores {
      let steps = try store.deferredSteps()
      guard !steps.isEmpty else { continue }
      if let deadline, hasBegun, ContinuousClock.now >= deadline {
        waiting += steps.count
      } else {
        waiting += try store.finishDeferredSteps(until: deadline).count
        hasBegun = true
      }
    }
    return waiting == 0
  }
}
