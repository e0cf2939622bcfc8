import Foundation

/// The times of one operation, in milliseconds.
struct WaitSamples: Codable, Sendable {
  private var times: [Double] = []

  mutating func add(_ time: Duration) { times.append(time / .milliseconds(1)) }

  /// The longest time, and that which one operation in a hundred exceeds.
  var text: String {
    guard let longest = times.max() else { return "–" }
    let sorted = times.sorted()
    let p99 = times.count < 100 ? "–" : Self.text(sorted[times.count * 99 / 100])
    return "\(Self.text(longest)), \(p99)"
  }

  static func text(_ milliseconds: Double) -> String { String(format: "%.1f", milliseconds) }
}

/// The times of a program's reads and writes.
struct ProgramSamples: Codable, Sendable {
  var writes = WaitSamples()
  var reads = WaitSamples()
}
