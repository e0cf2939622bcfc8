import Dispatch
import Persist

/// One state of a store on a server.
///
/// The server can't remove old rows while the state is held. After the time in the options, a state that is no longer
/// the newest one is released, whether or not it is being read.
final class PostgreSQLGeneration: StoreGeneration {
  private let store: PostgreSQLStore
  private let state: HeldServerState
  private let timer: Timer

  // Sendable: the system's timers can be used from any thread.
  private struct Timer: @unchecked Sendable {
    let source: any DispatchSourceTimer
  }

  var rows: any SharedRowSource { store }

  /// - Parameters:
  ///   - store: A store that reads the state.
  ///   - origin: The store whose state it is.
  fileprivate init(
    _ store: PostgreSQLStore, _ state: HeldServerState, of origin: PostgreSQLStore, lifetime: Duration
  ) {
    self.store = store
    self.state = state
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    timer.schedule(deadline: .now() + lifetime / .seconds(1), repeating: max(lifetime / .seconds(1), 0.001))
    let reason = PersistenceError(
      .queryGenerationExpired, at: .store(store.url),
      "The state to which the context is pinned is older than \(lifetime), and others have written since.",
      fix: "Refresh the context's objects or pin it again, or set a longer queryGenerationLifetime.")
    timer.setEventHandler { [weak state, weak origin] in
      guard let state, let origin, (try? origin.foreignChangeCount()) != state.changeCount else { return }
      state.end(reason)
    }
    self.timer = Timer(source: timer)
    timer.activate()
  }

  deinit { timer.source.cancel() }
}

extension PostgreSQLStore {
  func generation() throws -> (any StoreGeneration)? {
    let (store, state) = try holdingPresentState()
    return PostgreSQLGeneration(store, state, of: self, lifetime: pool.options.queryGenerationLifetime)
  }

  /// The present state of the store, until it is deallocated or ended.
  private func holdingPresentState() throws -> (store: PostgreSQLStore, state: HeldServerState) {
    do {
      let state = try HeldServerState(pool.address, waitingAtMost: busyTimeout)
      return (PostgreSQLStore(reading: pool.reading(from: state), of: self), state)
    } catch let failure as ServerFailure {
      throw PersistenceError(failure, at: url)
    }
  }

  func copying<T>(thenClosing closes: Bool, _ body: (any PersistentStore) throws -> T) throws -> T {
    func copy() throws -> T { try body(holdingPresentState().store) }
    let result = try closes && !isReadOnly ? pool.closing(copy) : copy()
    if closes { try close() }
    return result
  }
}
