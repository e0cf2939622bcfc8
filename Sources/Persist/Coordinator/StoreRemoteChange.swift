public import Foundation

/// A change of a store, by this program or another one.
public struct StoreRemoteChange: Sendable, Hashable {
  /// The UUID of the store, as in its metadata.
  public let storeUUID: String
  /// The store's file.
  public let storeURL: URL?
  /// The position of the last transaction in the store's history; nil if it has none.
  public let historyToken: HistoryToken?
}

extension PersistentStoreCoordinator {
  /// Posted when this program or another one has written to a store that was opened with
  /// ``StoreOptions/postsRemoteChangeNotifications``. The object is the coordinator; the thread is Persist's own.
  ///
  /// Observers may use, remove or move the store, on any queue. Changes after the removal of a store aren't reported. A
  /// removal doesn't wait for a notification that is being posted at that moment, nor for an observer's queue.
  public static let remoteStoreDidChangeNotification = Notification.Name("PersistentStoreRemoteChange")
  /// The key of the store's UUID, a string, in the notification's user info.
  public static let storeUUIDKey = "storeUUID"
  /// The key of the ``HistoryToken`` in the user info of this notification and of a save's; absent for stores without
  /// a history.
  public static let historyTokenKey = "historyToken"
  /// The key of the store's URL in the notification's user info.
  public static let storeURLKey = "storeURL"

  /// The changes of the open stores by anyone, from now on.
  ///
  /// ```swift
  /// for await change in coordinator.remoteChanges {
  ///   await view.update(after: change.historyToken)
  /// }
  /// ```
  ///
  /// An element means that something has changed: saves in quick succession produce a single element. Stores are
  /// watched while such a sequence exists, or if their options request it; stores in memory aren't watched.
  public var remoteChanges: AsyncStream<StoreRemoteChange> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: StoreRemoteChange.self, bufferingPolicy: .bufferingNewest(100))
    let number = remoteChangePost.add(continuation)
    watchStores()
    continuation.onTermination = { [weak self] _ in
      self?.remoteChangePost.remove(number)
      self?.stopWatchingStores()
    }
    return stream
  }

  /// Starts watching the stores whose changes are observed, or automatically merged by a context that is being awaited.
  func watchStores() {
    for store in openStores { remoteChangePost.begin(store, of: self) }
  }

  /// Stops watching stores whose changes nobody observes any more.
  package func stopWatchingStores() {
    guard !savedChangesPost.isAwaited else { return }
    remoteChangePost.endUnneeded()
  }
}

/// The observations of a coordinator's stores, and their receivers.
final class RemoteChangePost: Sendable {
  private struct State {
    var monitors: [String: any StoreMonitor] = Dictionary()
    /// The identifiers of stores whose options request notifications.
    var posting: Set<String> = []
    var receivers: [Int: AsyncStream<StoreRemoteChange>.Continuation] = Dictionary()
    var next = 0
  }

  private let state = LockProtected(State())

  func add(_ receiver: AsyncStream<StoreRemoteChange>.Continuation) -> Int {
    state.withLock { state in
      state.next += 1
      state.receivers[state.next] = receiver
      return state.next
    }
  }

  func remove(_ number: Int) { state.withLock { _ = $0.receivers.removeValue(forKey: number) } }

  /// Starts watching a store if its changes are observed, or automatically merged by a context that is being awaited.
  ///
  /// Failures are ignored: the changes of a store that can't be watched are noticed when a context uses it.
  func begin(_ store: any PersistentStore, of coordinator: PersistentStoreCoordinator) {
    let isMerged = coordinator.savedChangesPost.isAwaited
    let isWanted = state.withLock { state in
      state.monitors[store.identifier] == nil && (store.postsRemoteChanges || isMerged || !state.receivers.isEmpty)
    }
    guard isWanted else { return }
    let reports = ChangeReports { [weak coordinator, weak store] in
      guard let coordinator, let store else { return }
      coordinator.remoteChangePost.report(store, of: coordinator)
    }
    guard let monitor = try? store.monitorChanges({ reports.request() }) else { return }
    let other = state.withLock { state -> (any StoreMonitor)? in
      if state.monitors[store.identifier] != nil { return monitor }
      if store.postsRemoteChanges { state.posting.insert(store.identifier) }
      state.monitors[store.identifier] = monitor
      return nil
    }
    if let other { return other.end() }
    // A store that was removed after it was asked for its monitor ended its watching before there was anything to end.
    guard coordinator.openStore(identifier: store.identifier) !== store else { return }
    end(monitor, of: store.identifier)
    if let current = coordinator.openStore(identifier: store.identifier) { begin(current, of: coordinator) }
  }

  /// Ends a monitor that is still the one of the store with an identifier.
  private func end(_ monitor: any StoreMonitor, of identifier: String) {
    let isRegistered = state.withLock { state -> Bool in
      guard state.monitors[identifier] === monitor else { return false }
      state.monitors[identifier] = nil
      state.posting.remove(identifier)
      return true
    }
    if isRegistered { monitor.end() }
  }

  /// Stops watching stores without waiting, if there are no receivers.
  func endUnneeded() {
    let monitors = state.withLock { state -> [any StoreMonitor] in
      guard state.receivers.isEmpty else { return [] }
      let ends = state.monitors.filter { !state.posting.contains($0.key) }
      for name in ends.keys { state.monitors[name] = nil }
      return Array(ends.values)
    }
    guard !monitors.isEmpty else { return }
    DispatchQueue.global().async { for monitor in monitors { monitor.end() } }
  }

  /// The number of watched stores, for tests.
  var watchedCount: Int { state.withLock { $0.monitors.count } }

  /// Stops watching a closed store.
  func end(_ identifier: String) {
    state.withLock { state in
      state.posting.remove(identifier)
      return state.monitors.removeValue(forKey: identifier)
    }?.end()
  }

  deinit {
    for monitor in state.withLock({ $0.monitors }).values { monitor.end() }
    let receivers = state.withLock { $0.receivers }
    // Few programs have receivers, and the first use of a stream's type takes 7,000 instructions.
    if !receivers.isEmpty { for receiver in receivers.values { receiver.finish() } }
  }

  private func report(_ store: any PersistentStore, of coordinator: PersistentStoreCoordinator) {
    coordinator.savedChangesPost.ring()
    // The change is reported even if the history can't be read now.
    let position = try? store.history?.lastPosition()
    let change = StoreRemoteChange(
      storeUUID: store.identifier, storeURL: store.url,
      historyToken: position.map { HistoryToken([store.identifier: $0]) })
    // The end of the observation doesn't wait for reports.
    guard coordinator.openStore(identifier: store.identifier) === store else { return }
    let receivers = state.withLock { Array($0.receivers.values) }
    for receiver in receivers { receiver.yield(change) }
    guard store.postsRemoteChanges else { return }
    var info: [AnyHashable: Any] = [PersistentStoreCoordinator.storeUUIDKey: change.storeUUID]
    info[PersistentStoreCoordinator.storeURLKey] = change.storeURL
    info[PersistentStoreCoordinator.historyTokenKey] = change.historyToken
    NotificationCenter.default.post(
      name: PersistentStoreCoordinator.remoteStoreDidChangeNotification, object: coordinator, userInfo: info)
  }
}
