import Foundation

/// The time of some work.
struct SyncTime {
  var seconds = 0.0
  /// The time of all processors.
  var processor = 0.0

  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private static func processorTimeOfChildren() -> Double {
    var usage = rusage()
    getrusage(.init(RUSAGE_CHILDREN.rawValue), &usage)
    func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
    return seconds(usage.ru_utime) + seconds(usage.ru_stime)
  }

  init(of body: () async throws -> Void) async throws {
    let (start, used) = (ContinuousClock.now, Self.processorTime() + Self.processorTimeOfChildren())
    try await body()
    seconds = start.duration(to: .now) / .seconds(1)
    processor = Self.processorTime() + Self.processorTimeOfChildren() - used
  }
}

/// The times of several rounds.
struct SyncTimes {
  private var all: [SyncTime] = []

  mutating func add(_ time: SyncTime) { all.append(time) }

  /// In seconds.
  var median: Double { median { $0.seconds } }
  var medianOfProcessor: Double { median { $0.processor } }

  private func median(_ value: (SyncTime) -> Double) -> Double {
    let sorted = all.map(value).sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
  }
}

/// The results as a table in Markdown.
struct SyncTable {
  static let heading = """
    | work | ms | processor, ms | beside | ms | processor, ms | ratio | of processor time | goal |
    |---|---:|---:|---|---:|---:|---:|---:|---:|
    """

  /// Prints lines at once, so that an interrupted run has shown what it knows.
  static func show(_ text: String) { FileHandle.standardOutput.write(Data("\(text)\n".utf8)) }

  static func line(
    _ work: String, _ times: SyncTimes, beside other: String, _ others: SyncTimes, goal: Double? = nil
  ) -> String {
    func text(_ seconds: Double) -> String { String(format: "%.1f", seconds * 1000) }
    func ratio(_ left: Double, _ right: Double) -> String { String(format: "%.2f", left / right) }
    let cells = [
      work, text(times.median), text(times.medianOfProcessor), other, text(others.median),
      text(others.medianOfProcessor), ratio(times.median, others.median),
      ratio(times.medianOfProcessor, others.medianOfProcessor), goal.map { String(format: "%.0f", $0) } ?? "",
    ]
    return "| " + cells.joined(separator: " | ") + " |"
  }
}
