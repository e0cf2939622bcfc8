/// A source of the rows of a coordinator's stores, for contexts that don't read the stores' current state.
protocol ReadView: AnyObject, Sendable {
  /// The source of a store's rows: the store itself if the view has no other.
  func rows(of store: any PersistentStore) throws -> any SharedRowSource
}

/// The replicas that one context reads: one of each store that has any.
final class ReplicaView: ReadView {
  /// By the stores' identifiers; nil for a store without replicas.
  private let replicas = LockProtected<[String: (any SharedRowSource)?]>([:])

  func rows(of store: any PersistentStore) throws -> any SharedRowSource {
    let replica = replicas.withLock { replicas in
      if let known = replicas[store.identifier] { return known }
      let replica = store.replicaRows()
      replicas[store.identifier] = .some(replica)
      return replica
    }
    return replica ?? store
  }
}
