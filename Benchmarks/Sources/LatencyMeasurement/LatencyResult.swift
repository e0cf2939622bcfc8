import Foundation

/// The times of one operation beside the writers of a case.
public struct LatencyResult: Sendable, Codable {
  /// The milliseconds that the given parts of the operations took at most; nil where too few were measured to say.
  public let p50: Double?
  public let p99: Double?
  public let p999: Double?
  /// The saves of all threads.
  public let savesPerSecond: Double

  init(times: [Duration], savesPerSecond: Double) {
    let sorted = times.sorted()
    func quantile(_ part: Double) -> Double? {
      // At least one of the operations must have taken longer.
      guard Double(sorted.count) * (1 - part) >= 1 else { return nil }
      return sorted[Int(Double(sorted.count) * part)] / .milliseconds(1)
    }
    (p50, p99, p999) = (quantile(0.5), quantile(0.99), quantile(0.999))
    self.savesPerSecond = savesPerSecond
  }

  public static let heading = """
    | operation | writers | their saves | contestant | p50, ms | p99, ms | p99.9, ms | saves/s |
    |---|---:|---|---|---:|---:|---:|---:|
    """

  /// The result as a line below ``heading``.
  public func line(_ latencyCase: LatencyCase, _ contestant: String) -> String {
    func text(_ value: Double?) -> String { value.map { String(format: "%.3f", $0) } ?? "–" }
    return "| \(latencyCase.columns) | \(contestant) | \(text(p50)) | \(text(p99)) | \(text(p999)) | \(Int(savesPerSecond)) |"
  }
}
