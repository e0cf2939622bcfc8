public import CoreMetrics
import Synchronization

/// Metrics in the text that Prometheus reads: a factory for swift-metrics, and the answer of a route `/metrics`.
///
/// Names follow Prometheus' rules: `persist.statements` becomes `persist_statements_total`, since it only grows, and
/// timers are histograms in seconds, such as `db_client_operation_duration_seconds`.
public final class PrometheusMetrics: MetricsFactory {
  private struct Name: Hashable {
    let metric: String
    let labels: String
  }

  private let series = Mutex<[Name: Series]>([:])

  /// The bounds of the histograms of timers, in seconds, and of other recorders.
  private static let seconds = [
    0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]
  private static let amounts: [Double] = [1, 10, 100, 1_000, 10_000, 100_000]

  public init() {}

  /// All metrics with their present values.
  public var text: String {
    let metrics = Dictionary(grouping: series.withLock { Array($0) }, by: \.key.metric)
    return metrics.sorted { $0.key < $1.key }.map { metric, series in
      "# TYPE \(metric) \(series[0].value.kind)\n"
        + series.sorted { $0.key.labels < $1.key.labels }.map { $1.lines(metric, $0.labels) }.joined()
    }.joined()
  }

  /// The content type of ``text``.
  public static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  public func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
    make(label, "_total", dimensions) { Series(.counter) }
  }

  public func makeFloatingPointCounter(
    label: String, dimensions: [(String, String)]
  ) -> any FloatingPointCounterHandler {
    make(label, "_total", dimensions) { Series(.counter) }
  }

  public func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
    make(label, "", dimensions) { Series(.gauge) }
  }

  public func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
    make(label, "", dimensions) { aggregate ? Series(.histogram, bounds: Self.amounts) : Series(.gauge) }
  }

  public func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
    make(label, "_seconds", dimensions) { Series(.histogram, bounds: Self.seconds) }
  }

  // Prometheus forgets what a program no longer shows: series stay until it ends.
  public func destroyCounter(_ handler: any CounterHandler) {}
  public func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
  public func destroyMeter(_ handler: any MeterHandler) {}
  public func destroyRecorder(_ handler: any RecorderHandler) {}
  public func destroyTimer(_ handler: any TimerHandler) {}

  /// Returns the series of a name and labels: handlers with the same ones share it.
  private func make(
    _ label: String, _ suffix: String, _ dimensions: [(String, String)], _ new: () -> Series
  ) -> Series {
    let labels = dimensions.map { "\(Self.name($0.0))=\"\(Self.escaped($0.1))\"" }.sorted().joined(separator: ",")
    let name = Name(metric: Self.name(label) + suffix, labels: labels)
    return series.withLock { series in
      if let known = series[name] { return known }
      let made = new()
      series[name] = made
      return made
    }
  }

  private static func name(_ text: String) -> String {
    String(text.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
  }

  private static func escaped(_ text: String) -> String {
    text.reduce(into: "") { result, character in
      switch character {
      case "\\": result += "\\\\"
      case "\"": result += "\\\""
      case "\n", "\r\n": result += "\\n"
      default: result.append(character)
      }
    }
  }
}
