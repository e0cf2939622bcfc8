extension PersistentStoreCoordinator {
  /// Returns the steps that earlier migrations deferred in the open stores.
  public func deferredSteps() throws -> [DeferredStep] { try openStores.flatMap { try $0.deferredSteps() } }

  /// Performs the steps that migrations deferred: converts values, drops the columns of removed attributes, and creates
  /// indexes.
  ///
  /// ``AutomaticMigrator/defersWork`` defers them. Until they are done, the stores are complete and fetch and save as
  /// usual, with larger files and fewer indexes. Call this when the program is idle, repeatedly with a short time if
  /// need be:
  ///
  /// ```swift
  /// while try !coordinator.finishDeferredMigration(within: .milliseconds(200)) { await nextIdleMoment() }
  /// ```
  ///
  /// Values are converted in transactions of about 8 milliseconds each, with pauses of the same length, so that it can
  /// run in the background of a program that reads and writes the store. Dropping the columns of a table and creating
  /// an index are a transaction each, which other writers wait for. However short the time, one transaction is
  /// performed if any step is pending.
  ///
  /// - Parameter time: The time after which no further step is started; nil for no limit.
  /// - Returns: Whether no steps remain.
  /// - Throws: ``PersistenceError/Code/storeBusy``, ``PersistenceError/Code/storeReadOnly`` and file errors. Completed
  ///   steps stay completed.
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
