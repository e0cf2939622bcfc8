extension ManagedObjectContext {
  /// Whether the context reads from the replicas in ``StoreOptions/readsFrom``. False by default.
  ///
  /// A replica replays the changes of the primary server, usually within milliseconds. The context sees at least what
  /// this program saved before, through any context, and what it merged: it waits up to 0.1 seconds for the replica to
  /// have that, and then reads from the primary server. The latest saves of others may be missing. The context's reads
  /// never go back in time, because it stays with one replica.
  ///
  /// The context also reads from the primary server while the replica can't be used, which the log records; when it is
  /// pinned to a state; and during a save. Stores without replicas and child contexts, which read through their parent,
  /// ignore the property.
  ///
  /// ```swift
  /// let report = ManagedObjectContext(coordinator)
  /// report.readsFromReplicas = true
  /// let orders = try report.fetch(FetchRequest("Order", where: "total > 1000"))
  /// ```
  public var readsFromReplicas: Bool {
    get { replicaView != nil }
    set {
      guard newValue != readsFromReplicas, parent == nil else { return }
      replicaView = newValue ? ReplicaView() : nil
    }
  }

  /// Makes replicas show at least what others have saved until now.
  func advanceReplicas() {
    guard replicaView != nil else { return }
    // The context's tables may include those of stores that were removed.
    for store in persistentStoreCoordinator.openStores {
      do { try store.advanceReplicas() } catch { deferError(error) }
    }
  }
}
