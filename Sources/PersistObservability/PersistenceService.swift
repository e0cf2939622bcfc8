import Foundation
public import Persist
public import ServiceLifecycle

/// Runs a container as a service: opens its stores, reports their metrics, and closes them on a graceful shutdown.
///
/// ```swift
/// let group = ServiceGroup(
///   services: [PersistenceService(container, telemetry: telemetry), server],
///   gracefulShutdownSignals: [.sigterm], logger: logger)
/// try await group.run()
/// ```
///
/// A service group shuts its services down in reverse order: list the container before the services that use it, so
/// that the last request is answered before the stores close.
public struct PersistenceService: Service {
  private let container: PersistentContainer
  private let telemetry: StoreTelemetry?
  private let interval: Duration

  /// Creates a service.
  ///
  /// - Parameters:
  ///   - container: The container. Its stores are loaded when the service starts, unless they are open already.
  ///   - telemetry: The receiver of the gauges; nil for none.
  ///   - interval: The time between two reports of the gauges; ten seconds by default.
  public init(
    _ container: PersistentContainer, telemetry: StoreTelemetry? = nil, reportingEvery interval: Duration = .seconds(10)
  ) {
    self.container = container
    self.telemetry = telemetry
    self.interval = interval
  }

  /// Runs until the task is canceled or a graceful shutdown begins; then finishes the queued and running work, and
  /// closes the stores. The last connection to a file moves its log into it.
  ///
  /// - Throws: The errors of loading and of closing the stores.
  public func run() async throws {
    let coordinator = container.persistentStoreCoordinator
    if coordinator.persistentStores.isEmpty { try await container.loadPersistentStores() }
    await cancelWhenGracefulShutdown {
      while !Task.isCancelled {
        telemetry?.report(coordinator)
        try? await Task.sleep(for: interval)
      }
    }
    // Canceling the service's task must not skip the end.
    try await Task { try await coordinator.finishAndClose() }.value
  }
}

extension PersistentStoreCoordinator {
  /// Waits until the coordinator's threads have no more work, and closes all stores.
  fileprivate func finishAndClose() async throws {
    while !(threads.writing.isIdle && threads.background.isIdle && threads.reading.isIdle) {
      try await Task.sleep(for: .milliseconds(5))
    }
    try await threads.background.run {
      for store in self.persistentStores { try self.remove(store) }
    }
  }
}

extension StoreTelemetry {
  /// Sets the gauges of a coordinator's stores: connections, waiting writers, cache, log and history.
  ///
  /// ``PersistenceService`` calls it repeatedly; a program without one calls it itself. Reads the extent of each
  /// history, and nothing else from the stores.
  public func report(_ coordinator: PersistentStoreCoordinator) {
    for store in coordinator.openStores {
      let extent = try? store.history?.extent()
      meters.report(
        store.statistics, transactions: extent.map { Int($0.lastNumber - $0.oldestPosition) }, of: StoreName(store))
    }
  }
}
