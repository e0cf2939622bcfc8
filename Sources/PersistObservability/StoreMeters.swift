import CoreMetrics
import Persist

/// The metrics of stores. Handlers are kept, because making one may be slow.
final class StoreMeters: Sendable {
  /// The dimensions of an operation's metrics.
  struct Operation: Hashable {
    let store: StoreName
    let kind: StoreOperation.Kind
    let entity: String?
    let failure: String?

    var dimensions: [(String, String)] {
      var dimensions = [
        ("db.system.name", store.system), ("db.namespace", store.namespace), ("db.operation.name", kind.rawValue),
      ]
      if let entity { dimensions.append(("db.collection.name", entity)) }
      if let failure { dimensions.append(("error.type", failure)) }
      return dimensions
    }
  }

  private struct Handlers {
    let duration: Timer
    let rows: Recorder
    let statements: Counter
  }

  private struct State {
    var operations: [Operation: Handlers] = [:]
    var waits: [StoreWait: Timer] = [:]
    var gauges: [String: Gauge] = [:]
  }

  private let chosenFactory: (any MetricsFactory)?
  private let state = LockProtected(State())

  /// - Parameter factory: Nil for the factory of `MetricsSystem`.
  init(_ factory: (any MetricsFactory)?) { chosenFactory = factory }

  private var factory: any MetricsFactory { chosenFactory ?? MetricsSystem.factory }

  /// Records an operation that has ended.
  ///
  /// - Parameter rows: The number of rows of its result, if it has any.
  func record(_ operation: Operation, _ duration: Duration, rows: Int?, statements: Int) {
    let handlers = state.withLock { state in
      if let known = state.operations[operation] { return known }
      let dimensions = operation.dimensions
      let made = Handlers(
        duration: Timer(label: "db.client.operation.duration", dimensions: dimensions, factory: factory),
        rows: Recorder(label: "db.client.response.returned_rows", dimensions: dimensions, factory: factory),
        statements: Counter(label: "persist.statements", dimensions: dimensions, factory: factory))
      state.operations[operation] = made
      return made
    }
    handlers.duration.record(duration)
    if let rows { handlers.rows.record(rows) }
    if statements > 0 { handlers.statements.increment(by: statements) }
  }

  func record(wait reason: StoreWait, _ duration: Duration) {
    let timer = state.withLock { state in
      if let known = state.waits[reason] { return known }
      // Those that have a name in OpenTelemetry's conventions.
      let name: String? =
        switch reason {
        case .connection: "db.client.connection.wait_time"
        case .opening: "db.client.connection.create_time"
        case .writer, .lock, .thread: nil
        }
      let timer = Timer(
        label: name ?? "persist.wait.duration",
        dimensions: name == nil ? [("persist.wait.reason", reason.rawValue)] : [], factory: factory)
      state.waits[reason] = timer
      return timer
    }
    timer.record(duration)
  }

  /// Sets the gauges of a store.
  ///
  /// - Parameter transactions: The number of transactions in the store's history; nil if it has none.
  func report(_ statistics: StoreStatistics, transactions: Int?, of store: StoreName) {
    let dimensions = [("db.system.name", store.system), ("db.client.connection.pool.name", store.namespace)]
    func set(_ label: String, _ value: Int, _ more: [(String, String)] = []) {
      gauge(label, dimensions + more).record(value)
    }
    set("db.client.connection.count", statistics.idleConnections, [("db.client.connection.state", "idle")])
    set(
      "db.client.connection.count", statistics.connections - statistics.idleConnections,
      [("db.client.connection.state", "used")])
    set("db.client.connection.max", statistics.maximumConnections)
    set("persist.writers.waiting", statistics.waitingWriters)
    set("persist.cache.hits", statistics.cacheHits)
    set("persist.cache.misses", statistics.cacheMisses)
    if let size = statistics.logSize { set("persist.log.size", size) }
    if let transactions { set("persist.history.transactions", transactions) }
  }

  private func gauge(_ label: String, _ dimensions: [(String, String)]) -> Gauge {
    let name = "\(label)\(dimensions)"
    return state.withLock { state in
      if let known = state.gauges[name] { return known }
      let made = Gauge(label: label, dimensions: dimensions, factory: factory)
      state.gauges[name] = made
      return made
    }
  }
}

extension Timer {
  fileprivate func record(_ duration: Duration) { recordNanoseconds(Int64(duration / .nanoseconds(1))) }
}
