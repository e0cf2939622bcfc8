import Foundation
public import Persist

/// The health of a coordinator's stores, for the readiness check of a service.
///
/// ```swift
/// router.get("ready") { _, _ in
///   await coordinator.health().isReady ? HTTPResponse.Status.ok : .serviceUnavailable
/// }
/// ```
///
/// A liveness check needs no store: a process that answers is alive, and restarting it doesn't help a store that is
/// busy or a server that is down.
public struct StoreHealth: Sendable {
  /// The result for one store.
  public struct Store: Sendable {
    /// The store.
    public let info: StoreInfo
    /// The time that the read took; nil if it failed.
    public let latency: Duration?
    /// The reason why the store can't be read; nil if it can be.
    public let error: PersistenceError?
    /// The number of commits to the store's database that wait for a synchronous standby, a second or longer after they
    /// began.
    ///
    /// Reads go on meanwhile, but no save returns until a standby confirms it. If the number stays above zero, alert
    /// somebody: the standby is gone, or too slow. Commits of other roles count if the store's role has the privileges
    /// of `pg_read_all_stats`. It is zero for stores in files, without a synchronous standby, and where the server
    /// doesn't show its sessions.
    public let stalledCommits: Int
  }

  /// The results, in the order in which the stores were added.
  public let stores: [Store]

  /// Whether there are stores, and all of them answered. Stores with stalled commits can be read, and are ready.
  public var isReady: Bool { !stores.isEmpty && stores.allSatisfy { $0.error == nil } }
}

extension PersistentStoreCoordinator {
  /// Reads from each store, at the same time.
  ///
  /// - Parameter limit: The time after which a store counts as failed with `PersistenceError.Code.storeBusy`; two
  ///   seconds by default. Its read goes on.
  public func health(within limit: Duration = .seconds(2)) async -> StoreHealth {
    let stores = openStores
    let results = await withTaskGroup(of: (Int, StoreHealth.Store).self) { group in
      for (index, store) in stores.enumerated() {
        group.addTask { (index, await self.health(of: store, within: limit)) }
      }
      return await group.reduce(into: [(Int, StoreHealth.Store)]()) { $0.append($1) }
    }
    return StoreHealth(stores: results.sorted { $0.0 < $1.0 }.map(\.1))
  }

  private func health(of store: any PersistentStore, within limit: Duration) async -> StoreHealth.Store {
    let info = StoreInfo(store)
    let begin = ContinuousClock.now
    let answer = await firstAnswer(within: limit) { [threads] () -> Result<(Duration, Int), PersistenceError> in
      do {
        return .success(
          try await threads.background.run {
            _ = try store.metadata()
            let latency: Duration = .now - begin
            // A store whose server doesn't show its sessions can be read.
            return (latency, (try? store.stalledCommits()) ?? 0)
          })
      } catch let error as PersistenceError {
        return .failure(error)
      } catch {
        return .failure(
          PersistenceError(.storeOpenFailed, at: .store(info.url), "The store can't be read: \(error)."))
      }
    } orElse: {
      .failure(PersistenceError(.storeBusy, at: .store(info.url), "The store didn't answer within \(limit)."))
    }
    switch answer {
    case .success(let (latency, stalled)):
      return StoreHealth.Store(info: info, latency: latency, error: nil, stalledCommits: stalled)
    case .failure(let error):
      return StoreHealth.Store(info: info, latency: nil, error: error, stalledCommits: 0)
    }
  }

  /// Awaits a result for a limited time, without waiting for the work after it: a blocked read can't be canceled.
  private func firstAnswer<T: Sendable>(
    within limit: Duration, _ work: @escaping @Sendable () async -> T, orElse late: @escaping @Sendable () -> T
  ) async -> T {
    let (results, continuation) = AsyncStream<T>.makeStream(bufferingPolicy: .bufferingOldest(1))
    let running = Task { continuation.yield(await work()) }
    let timer = Task {
      try await Task.sleep(for: limit)
      continuation.yield(late())
    }
    defer {
      running.cancel()
      timer.cancel()
    }
    for await result in results { return result }
    return late()
  }
}
