import Dispatch

/// One state of an SQLite store, held by a read transaction on a dedicated connection.
///
/// The store's log grows while a state other than the newest one is held. After the time in the options, a state that
/// is no longer the newest one is released, whether or not it is being read.
final class SQLiteGeneration: StoreGeneration {
  private let store: SQLiteStore
  private let timer: Timer

  // Sendable: the system's timers can be used from any thread.
  private struct Timer: @unchecked Sendable {
    let source: any DispatchSourceTimer
  }

  var rows: any SharedRowSource { store }

  /// - Parameter store: A store that reads with the pool of a held state.
  init(_ store: SQLiteStore, lifetime: Duration) {
    self.store = store
    let timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
    let seconds = Double(lifetime.components.seconds) + Double(lifetime.components.attoseconds) * 1e-18
    timer.schedule(deadline: .now() + seconds, repeating: max(seconds, 0.001))
    timer.setEventHandler { [weak store] in store?.renewGeneration() }
    self.timer = Timer(source: timer)
    timer.activate()
  }

  deinit {
    timer.source.cancel()
    store.pool.close()
  }
}

extension SQLiteStore {
  func generation() throws -> (any StoreGeneration)? {
    guard let pool = try pool.following({ try $0.holdingPresentState() }) else { return nil }
    return SQLiteGeneration(SQLiteStore(reading: pool, of: self), lifetime: pool.options.queryGenerationLifetime)
  }

  /// Releases the held state that this store reads if it is no longer the newest one.
  fileprivate func renewGeneration() {
    let lifetime = pool.options.queryGenerationLifetime
    let reason = PersistenceError(
      .queryGenerationExpired, at: .store(url),
      "The state to which the context is pinned is older than \(lifetime), and others have written since.",
      fix: "Refresh the context's objects or pin it again, or set a longer queryGenerationLifetime.")
    guard (try? pool.renewHeldState(orThrow: reason)) != true else { return }
    pool.refuseUse(because: reason)
    pool.close()
  }
}
