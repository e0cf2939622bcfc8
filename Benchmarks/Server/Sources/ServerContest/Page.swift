import Foundation

/// The page of results.
struct Page {
  let results: [Load: [Contestant: [Load.Result]]]
  let seconds: Int
  let rounds: Int
  let synchronous: String
  let comparedAnswers: Int
  let remarks: [String]

  var text: String {
    """
    # A server over Persist and over GRDB

    Written by `Scripts/benchmark --server`. \(machine).
    \(remarks.joined(separator: "\n"))

    The same server on Hummingbird (`Benchmarks/Server`) runs over Persist, with a context for each request as
    [On servers](../Sources/Persist/Persist.docc/OnServers.md) recommends, and over GRDB's `DatabasePool`, with
    records and associations. Both work on copies of one file of 20,000 items in 200 categories with 60,000 notes, in
    WAL mode with `synchronous = \(synchronous)`. \(comparedAnswers) requests were answered with the same bytes before.

    wrk sends requests on one thread for \(seconds) seconds on the same machine; the servers take turns in
    \(rounds) rounds. Figures are medians of the rounds, with the minimum and maximum of the throughput. *memory* is the
    same server over a sorted array: what a request costs without a library, and so the limit of both.

    \(Load.Kind.allCases.map { "- **\($0.rawValue)**: \($0.summary)" }.joined(separator: "\n"))

    Targets: at least 1.5 times GRDB's throughput, and a 99th percentile of at most 1.1 times GRDB's. Where the limit is
    below 1.5 times GRDB's throughput, the target is at least half of the possible gain. *Own* is the time per request
    beyond that of memory, as a part of GRDB's.

    | load | connections | contestant | requests/s (min–max) | × GRDB | own | median ms | 99 % ms | × GRDB | target |
    |---|---|---|---|---|---|---|---|---|---|
    \(Load.all.flatMap { load in Contestant.allCases.map { row(load, $0) } }.joined(separator: "\n"))

    """
  }

  private func row(_ load: Load, _ contestant: Contestant) -> String {
    let own = Figures(results[load]?[contestant] ?? [])
    let other = Figures(results[load]?[.grdb] ?? [])
    let (speed, tail) = (own.speed / other.speed, own.percentile99 / other.percentile99)
    let limit = Figures(results[load]?[.memory] ?? [])
    let target = min(1.5, (1 + limit.speed / other.speed) / 2)
    let ownTime = (1 / own.speed - 1 / limit.speed) / (1 / other.speed - 1 / limit.speed)
    let isFirst = contestant == Contestant.allCases.first
    var verdict = ""
    if contestant == .persist {
      let missed = (speed < target ? ["throughput"] : []) + (tail > 1.1 ? ["99 %"] : [])
      verdict = missed.isEmpty ? "met" : "missed: \(missed.joined(separator: ", "))"
      if target < 1.5 { verdict += " (limit \(decimals(limit.speed / other.speed)))" }
    }
    return "| \(isFirst ? "**\(load.kind.rawValue)**" : "") | \(isFirst ? "\(load.connections)" : "") "
      + "| \(contestant.name) "
      + "| \(Int(own.speed)) (\(Int(own.slowest))–\(Int(own.fastest))) | \(decimals(speed)) "
      + "| \(contestant == .persist ? decimals(ownTime) : "") "
      + "| \(decimals(own.median)) | \(decimals(own.percentile99)) | \(decimals(tail)) | \(verdict) |"
  }

  private func decimals(_ value: Double) -> String { String(format: "%.2f", value) }

  private var machine: String {
    let process = ProcessInfo.processInfo
    let information = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)
    let line = information?.split(separator: "\n").first { $0.hasPrefix("model name") }
    let processor = line?.split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
    return [
      processor, "\(process.activeProcessorCount) cores", "\(process.physicalMemory >> 30) GB",
      process.operatingSystemVersionString,
    ].compactMap { $0 }.joined(separator: ", ")
  }

  /// The medians of several runs.
  private struct Figures {
    let speed, slowest, fastest, median, percentile99: Double

    init(_ results: [Load.Result]) {
      func middle(_ values: [Double]) -> Double { values.isEmpty ? .nan : values.sorted()[values.count / 2] }
      let speeds = results.map(\.requestsPerSecond)
      (speed, slowest, fastest) = (middle(speeds), speeds.min() ?? .nan, speeds.max() ?? .nan)
      (median, percentile99) = (middle(results.map(\.median)), middle(results.map(\.percentile99)))
    }
  }
}
