public import CoreMetrics
public import Persist
import ServiceContextModule
public import Tracing

/// Traces and measures the work of stores, with swift-distributed-tracing and swift-metrics.
///
/// ```swift
/// var options = StoreOptions.automaticMigration
/// options.telemetry = StoreTelemetry()
/// try coordinator.addStore(at: url, options: options)
/// ```
///
/// A fetch, a save, a group of faults and a migration are each a span, in the trace of the task that awaits them. Names
/// and attributes follow OpenTelemetry's conventions for databases; the documentation of the product lists all.
/// Neither spans nor metrics contain values of properties, keys, statements or paths.
///
/// One telemetry can observe any number of stores.
public final class StoreTelemetry: Sendable {
  private let chosenTracer: (any Tracer)?
  let meters: StoreMeters
  /// The shortest wait that gets a span. Metrics contain every wait.
  let minimumWait: Duration

  /// Creates a telemetry.
  ///
  /// - Parameters:
  ///   - tracer: The tracer of the spans; nil for the one with which the program has bootstrapped
  ///     `InstrumentationSystem`.
  ///   - metrics: The factory of the metrics; nil for the one with which the program has bootstrapped `MetricsSystem`.
  ///   - minimumWait: The shortest wait for a lock or a connection that gets a span; one millisecond by default.
  public init(
    tracer: (any Tracer)? = nil, metrics: (any MetricsFactory)? = nil, minimumWait: Duration = .milliseconds(1)
  ) {
    chosenTracer = tracer
    meters = StoreMeters(metrics)
    self.minimumWait = minimumWait
    BlockingWork.context.withLock { $0 = Self.captureContext }
  }

  var tracer: any Tracer { chosenTracer ?? InstrumentationSystem.tracer }

  /// Carries the trace of a task to the thread that works for it.
  @Sendable private static func captureContext() -> BlockingWork.ContextRestorer? {
    guard let context = ServiceContext.current else { return nil }
    return { work in ServiceContext.withValue(context) { work() } }
  }
}

extension StoreTelemetry: StoreInstrument {
  package func observing(_ store: any PersistentStore) -> any PersistentStore { ObservedStore(store, self) }

  package func observing(_ migrator: any StoreMigrator) -> any StoreMigrator { ObservedMigrator(migrator, self) }

  package func executed(statements: Int) { StoreOperation.current?.add(statements: statements) }

  package func waited(for reason: StoreWait, _ duration: Duration) {
    waited(for: reason, duration, endingBefore: .zero)
  }

  /// Reports the wait of a task for the thread that runs the present code, if that wasn't reported yet.
  func reportWaitForThread() {
    guard let wait = BlockingWork.takeWait() else { return }
    waited(for: .thread, wait.duration, endingBefore: .now - wait.end)
  }

  /// - Parameter age: The time since the end of the wait.
  private func waited(for reason: StoreWait, _ duration: Duration, endingBefore age: Duration) {
    meters.record(wait: reason, duration)
    guard duration >= minimumWait else { return }
    func moment(_ age: Duration) -> DefaultTracerClock.Timestamp {
      DefaultTracerClock.Timestamp(
        nanosecondsSinceEpoch: now.nanosecondsSinceEpoch - UInt64(max(0, age / .nanoseconds(1))))
    }
    let now = DefaultTracerClock.now
    let (begin, end) = (moment(age + duration), moment(age))
    let span = tracer.startSpan("wait for \(reason.rawValue)", ofKind: .internal, at: begin)
    span.attributes["persist.wait.reason"] = reason.rawValue
    span.end(at: end)
  }
}

extension StoreOptions {
  /// The telemetry that observes the store and its migration; nil, the default, for none.
  ///
  /// A store without one pays a comparison with nil for each access.
  public var telemetry: StoreTelemetry? {
    get { instrument as? StoreTelemetry }
    set { instrument = newValue }
  }
}
