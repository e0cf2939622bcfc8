import CoreMetrics
import Synchronization

/// The values of one metric with the same labels.
final class Series: CounterHandler, FloatingPointCounterHandler, MeterHandler, RecorderHandler, TimerHandler {
  enum Kind: String { case counter, gauge, histogram }

  private struct State {
    /// The value of a counter or gauge, or the sum of a histogram's values.
    var sum = 0.0
    /// The number of values up to each bound of a histogram that exceed the bound before, and of those above the last.
    var counts: [Int]
  }

  let kind: Kind
  private let bounds: [Double]
  private let state: Mutex<State>

  /// - Parameter bounds: The bounds of a histogram, ascending.
  init(_ kind: Kind, bounds: [Double] = []) {
    self.kind = kind
    self.bounds = bounds
    state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
  }

  func increment(by amount: Int64) { increment(by: Double(amount)) }
  func increment(by amount: Double) { state.withLock { $0.sum += amount } }
  func decrement(by amount: Double) { increment(by: -amount) }
  func reset() { set(0.0) }
  func set(_ value: Int64) { set(Double(value)) }
  func set(_ value: Double) { state.withLock { $0.sum = value } }
  func record(_ value: Int64) { record(Double(value)) }
  func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

  func record(_ value: Double) {
    guard kind == .histogram else { return set(value) }
    let place = bounds.firstIndex { value <= $0 } ?? bounds.count
    state.withLock { state in
      state.sum += value
      state.counts[place] += 1
    }
  }

  /// The lines of the series in Prometheus' text format.
  func lines(_ metric: String, _ labels: String) -> String {
    let state = state.withLock { $0 }
    let place = labels.isEmpty ? "" : "{\(labels)}"
    guard kind == .histogram else { return "\(metric)\(place) \(state.sum)\n" }
    let separator = labels.isEmpty ? "" : ","
    var (lines, count) = ("", 0)
    for (bound, more) in zip(bounds.map(String.init(describing:)) + ["+Inf"], state.counts) {
      count += more
      lines += "\(metric)_bucket{\(labels)\(separator)le=\"\(bound)\"} \(count)\n"
    }
    return lines + "\(metric)_sum\(place) \(state.sum)\n\(metric)_count\(place) \(count)\n"
  }
}
