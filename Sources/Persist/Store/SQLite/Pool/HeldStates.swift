/// The states of a store held for reading by all coordinators of this program.
final class HeldStates: Sendable {
  /// The name of one held state. A connection isn't, because it holds one state after another.
  struct Holding: Sendable, Hashable {
    fileprivate let number: Int
  }

  private struct Held {
    /// Nil before the state is acquired.
    weak var pool: SQLiteConnectionPool?
    /// The pool of the store through which the state was acquired.
    let origin: ObjectIdentifier
  }

  private struct State {
    var held: [Holding: Held] = Dictionary()
    var count = 0
    var actions: [@Sendable () -> Void] = []

    /// Removes and returns the actions if no state is held.
    mutating func takeDueActions() -> [@Sendable () -> Void] {
      guard held.isEmpty else { return [] }
      defer { actions = [] }
      return actions
    }
  }

  private let state = LockProtected(State())

  /// Whether any state is held.
  var isHolding: Bool { state.withLock { !$0.held.isEmpty } }

  /// Announces that a state is about to be acquired: called before its transaction begins, so that the actions of
  /// commits after it wait.
  func begin(of origin: SQLiteConnectionPool) -> Holding {
    state.withLock { state in
      state.count += 1
      let holding = Holding(number: state.count)
      state.held[holding] = Held(pool: nil, origin: ObjectIdentifier(origin))
      return holding
    }
  }

  /// Makes an acquired state known with the pool that closes it.
  func set(_ pool: SQLiteConnectionPool, for holding: Holding, of origin: SQLiteConnectionPool) {
    state.withLock { $0.held[holding] = Held(pool: pool, origin: ObjectIdentifier(origin)) }
  }

  /// Ends a holding: called after the transaction, and before its connection can begin another one.
  func end(_ holding: Holding) {
    let actions = state.withLock { state -> [@Sendable () -> Void] in
      state.held[holding] = nil
      return state.takeDueActions()
    }
    for action in actions { action() }
  }

  /// Performs an action once no state is held any longer; immediately if none is.
  func whenReleased(_ action: @escaping @Sendable () -> Void) {
    let actions = state.withLock { state -> [@Sendable () -> Void] in
      state.actions.append(action)
      return state.takeDueActions()
    }
    for action in actions { action() }
  }

  /// Releases every state that was acquired through a store.
  ///
  /// - Parameter reason: The error of later reads; nil if the store was closed.
  func release(of origin: SQLiteConnectionPool, because reason: PersistenceError? = nil) {
    let pools = state.withLock { state in
      state.held.values.filter { $0.origin == ObjectIdentifier(origin) }.compactMap(\.pool)
    }
    for pool in pools {
      if let reason { pool.refuseUse(because: reason) }
      pool.close()
    }
  }
}
