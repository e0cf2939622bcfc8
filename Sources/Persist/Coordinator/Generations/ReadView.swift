/// A source of the rows of a coordinator's stores, for contexts that don't read the stores' current state.
protocol ReadView: AnyObject, Sendable {
  /// The source of a store's rows: the store itself if the view has no other.
  func rows(of store: any PersistentStore) throws -> any SharedRowSource
}

/// The replicas that one context reads: one of each store that has any.
final class ReplicaView: ReadView {
  private struct Choice {
    weak var store: (any PersistentStore)?
    /// Nil for a store without replicas.
    let replica: (any SharedRowSource)?
  }

  /// By store, not by identifier: a store that was removed and added again has other replicas.
  private let choices = LockProtected<[ObjectIdentifier: Choice]>(Dictionary())

  func rows(of store: any PersistentStore) throws -> any SharedRowSource {
    let replica = choices.withLock { choices -> (any SharedRowSource)? in
      if let known = choices[ObjectIdentifier(store)], known.store === store { return known.replica }
      let replica = store.replicaRows()
      choices = choices.filter { $0.value.store != nil }
      choices[ObjectIdentifier(store)] = Choice(store: store, replica: replica)
      return replica
    }
    return replica ?? store
  }
}
