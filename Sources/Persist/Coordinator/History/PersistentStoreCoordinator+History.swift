extension PersistentStoreCoordinator {
  /// Whether a store records who changes which objects.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the store isn't open in this coordinator.
  public func tracksHistory(of store: StoreInfo) throws -> Bool {
    try requireOpen(store).history?.isTracking == true
  }

  /// Stops recording the changes of a store, for every program that uses it.
  ///
  /// A program switches the history on again by opening the store with ``StoreOptions/tracksHistory``. Earlier tokens
  /// are then too old, because changes in between weren't recorded. Core Data goes on recording changes in a store
  /// whose past was kept.
  ///
  /// - Parameters:
  ///   - store: A store that is open in this coordinator.
  ///   - keepingPast: Whether the recorded transactions remain readable; otherwise the tables are deleted.
  /// - Throws: ``PersistenceError/Code/storeReadOnly``, ``PersistenceError/Code/storeBusy``, and
  ///   ``PersistenceError/Code/invalidRequest`` if the store isn't open in this coordinator.
  public func disableHistory(of store: StoreInfo, keepingPast: Bool = true) throws {
    try requireOpen(store).history?.disable(keepingPast: keepingPast)
  }
}
