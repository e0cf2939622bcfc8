/// The states of a store held for reading by all coordinators of this program.
final class HeldStates: Sendable {
  private struct Held {
    weak var pool: SQLiteConnectionPool?
    /// The pool of the store through which the state was acquired.
    let origin: ObjectIdentifier
  }

  private struct State {
    var held: [ObjectIdentifier: Held] = [:]
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

  /// Adds the state that a connection holds.
  func add(_ pool: SQLiteConnectionPool, for reader: SQLiteConnection, of origin: SQLiteConnectionPool) {
    state.withLock { $0.held[ObjectIdentifier(reader)] = Held(pool: pool, origin: ObjectIdentifier(origin)) }
  }

  /// Removes the state that a connection held.
  func remove(_ reader: SQLiteConnection) {
    let actions = state.withLock { state -> [@Sendable () -> Void] in
      state.held[ObjectIdentifier(reader)] = nil
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
  func release(of origin: SQLiteConnectionPool) {
    let pools = state.withLock { state in
      state.held.values.filter { $0.origin == ObjectIdentifier(origin) }.compactMap(\.pool)
    }
    for pool in pools { pool.close() }
  }
}
