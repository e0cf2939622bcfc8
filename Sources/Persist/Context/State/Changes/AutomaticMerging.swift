/// The state of automatic merging in a context.
struct AutomaticMerging {
  /// By store, the foreign change count when the context last checked.
  private var seen: [String: Int64] = Dictionary()
  /// The stores whose count couldn't be determined at the last check, because a thread was writing.
  private var busy: Set<String> = []
  /// By store, the number of the last transaction in its history when the context last merged.
  private var numbers: [String: Int64] = Dictionary()
  /// Objects with unsaved values that others have overtaken.
  var leftOut: Set<ManagedObjectID> = []
  /// Whether the last merge of the parent's changes failed. Its error was reported, and the next merge compares
  /// everything.
  var hasFailed = false
  /// By store, a comparison of all its objects that is to be made.
  private var comparisons: [String: Comparison] = Dictionary()

  /// A comparison of all objects of a store, after too many changes, or changes that couldn't be merged.
  private struct Comparison {
    var failureCount = 0
    var lastFailure: ContinuousClock.Instant?
  }

  /// The number of merges that may fail at once. Further ones wait, because each may compare many objects, or try to
  /// reach a server.
  private static let maximumFailures = 3
  private static let pause = Duration.seconds(1)

  init(storesOf context: ManagedObjectContext) {
    for store in context.persistentStoreCoordinator.openStores {
      _ = try? recordForeignChanges(of: store)
      _ = try? recordedChanges(of: store)
    }
  }

  mutating func requireComparison(with store: any PersistentStore) {
    if comparisons[store.identifier] == nil { comparisons[store.identifier] = Comparison() }
  }

  func requiresComparison(with store: any PersistentStore) -> Bool { comparisons[store.identifier] != nil }

  /// Whether merges of a store have failed so often that the next one has to wait.
  func isPaused(_ store: any PersistentStore) -> Bool {
    guard let comparison = comparisons[store.identifier], comparison.failureCount >= Self.maximumFailures,
      let last = comparison.lastFailure
    else { return false }
    return last.duration(to: .now) < Self.pause
  }

  mutating func recordSuccess(of store: any PersistentStore) { comparisons[store.identifier] = nil }

  /// Records that the changes of a store couldn't be merged. They were known only to that merge.
  ///
  /// - Returns: Whether it is the first failure since the last success.
  mutating func recordFailure(of store: any PersistentStore) -> Bool {
    var comparison = comparisons[store.identifier] ?? Comparison()
    comparison.failureCount += 1
    comparison.lastFailure = .now
    comparisons[store.identifier] = comparison
    return comparison.failureCount == 1
  }

  /// Returns the changes in a store's history since the last call; nil for the first call, and if the history doesn't
  /// contain all of them.
  ///
  /// - Complexity: O(*changes*).
  mutating func recordedChanges(of store: any PersistentStore) throws -> SavedChanges? {
    guard let history = store.history else {
      numbers[store.identifier] = nil
      return nil
    }
    do { return try recordedChanges(of: store, history) } catch is PersistenceError where store.history == nil {
      // Another program has deleted the history.
      numbers[store.identifier] = nil
      return nil
    }
  }

  private mutating func recordedChanges(
    of store: any PersistentStore, _ history: any StoreHistory
  ) throws -> SavedChanges? {
    guard let last = numbers[store.identifier] else {
      numbers[store.identifier] = try history.lastNumber()
      return nil
    }
    var (changes, present, isComplete) = (SavedChanges(), last, false)
    try history.forEachTransaction(
      HistoryQuery(afterNumber: last),
      provided: { extent in
        present = extent.lastNumber
        isComplete = extent.isTracking && extent.isComplete(after: last)
        return isComplete
      }
    ) { changes.append($0.objectIDNotification()) }
    numbers[store.identifier] = present
    return isComplete ? changes : nil
  }

  /// Passes over a store's history before all objects are compared, so that a part of it that can't be read fails one
  /// merge and not every later one. If the last number can't be read either, the next changes are compared, too.
  mutating func passHistory(of store: any PersistentStore) {
    numbers[store.identifier] = try? store.history?.lastNumber()
  }

  /// Whether another coordinator or process has written since the context last checked.
  mutating func recordForeignChanges(of store: any PersistentStore) throws -> Bool {
    guard let count = try store.foreignChangeCount() else {
      if store.url != nil, !store.isReadOnly { busy.insert(store.identifier) }
      return false
    }
    let wasBusy = busy.remove(store.identifier) != nil
    defer { seen[store.identifier] = count }
    // A store that was busy at every check may have changed since the first one.
    return seen[store.identifier].map { $0 != count } ?? wasBusy
  }

  /// Whether the last check of a store couldn't tell if others have written.
  var mustCheckAgain: Bool { !busy.isEmpty }
}
