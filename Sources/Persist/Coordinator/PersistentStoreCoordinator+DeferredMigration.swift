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
  /// It can run in the background of a program that reads and writes the store. In files, values are converted in
  /// transactions of about 4 milliseconds each, with pauses. Dropping a column and creating an index are one statement
  /// each, which gives way: as soon as another writer comes, in this program or in another one that uses Persist, it is
  /// rolled back, and attempted again after a pause that grows to two seconds. So a step for which the store is never
  /// idle long enough remains, and without a time this function returns only when the store was.
  ///
  /// However short the time, one transaction is attempted if any step is pending. On a server, an index waits for the
  /// transactions of others, and for contexts that are pinned to a state: without a time, for as long as these last.
  ///
  /// - Parameter time: The time after which no further step is started; nil for no limit.
  /// - Returns: Whether no steps remain.
  /// - Throws: ``PersistenceError/Code/storeBusy``, ``PersistenceError/Code/storeReadOnly`` and file errors. Completed
  ///   steps stay completed.
  @discardableResult
  public func finishDeferredMigration(within time: Duration? = nil) throws -> Bool {
    try finishDeferredMigration(within: time, givingWay: true)
  }

  /// Performs the steps that migrations deferred.
  ///
  /// - Parameters:
  ///   - time: The time after which no further step is started; nil for no limit.
  ///   - givingWay: Whether steps that others would have to wait for give way to them.
  /// - Returns: Whether no steps remain.
  @discardableResult
  package func finishDeferredMigration(within time: Duration?, givingWay: Bool) throws -> Bool {
    let deadline = time.map { ContinuousClock.now + $0 }
    var (waiting, hasBegun) = (0, false)
    for store in openStores {
      let steps = try store.deferredSteps()
      guard !steps.isEmpty else { continue }
      if let deadline, hasBegun, ContinuousClock.now >= deadline {
        waiting += steps.count
      } else {
        waiting += try store.finishDeferredSteps(until: deadline, givingWay: givingWay).count
        hasBegun = true
      }
    }
    return waiting == 0
  }
}
