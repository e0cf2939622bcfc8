import Foundation

/// A kind of requests with a number of connections.
struct Load: Hashable {
  enum Kind: String, CaseIterable {
    case list, item, mix

    var summary: String {
      switch self {
      case .list: "20 items by an index, with their categories"
      case .item: "one item with its category and its notes"
      case .mix: "80 % of both, 20 % changes of an item and new notes"
      }
    }
  }

  let kind: Kind
  let connections: Int

  static let all = Kind.allCases.flatMap { kind in [1, 16, 128].map { Load(kind: kind, connections: $0) } }

  /// What one run of wrk measured.
  struct Result {
    let requestsPerSecond: Double
    /// In milliseconds.
    let median: Double
    /// The latency in milliseconds that 99 % of the requests don't exceed.
    let percentile99: Double
  }

  /// Runs wrk for a while.
  ///
  /// - Parameter seed: determines the requests.
  func run(on server: ServerProcess, seconds: Int, script: URL, seed: Int) throws -> Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "wrk", "--threads", "1", "--connections", "\(connections)", "--duration", "\(seconds)s", "--timeout", "10s",
      "--latency", "--script", script.path, server.address, "--", kind.rawValue, "20000", "\(seed)",
    ]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    let line = output.split(separator: "\n").last { $0.hasPrefix("result ") }
    let numbers = (line ?? "").split(separator: " ").dropFirst().compactMap { Double($0) }
    guard process.terminationStatus == 0, numbers.count == 5, numbers[1] > 0 else {
      throw ContestError("wrk printed no result:\n\(output)")
    }
    guard numbers[2] == 0 else {
      throw ContestError("\(server.contestant.name), \(kind.rawValue): \(Int(numbers[2])) requests failed.")
    }
    return Result(
      requestsPerSecond: numbers[0] / numbers[1] * 1_000_000, median: numbers[3] / 1_000,
      percentile99: numbers[4] / 1_000)
  }
}
