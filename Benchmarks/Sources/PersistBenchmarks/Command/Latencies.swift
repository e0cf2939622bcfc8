import ArgumentParser
import Foundation
import LatencyMeasurement

/// Measures how long single operations take while others save.
struct Latencies: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Measures the times of a save, a fetch by key and a page beside 1, 8 and 64 writers.")

  /// The number of objects in the store.
  static let rows = 100_000

  @Option(help: "The seconds for which each operation is repeated.")
  var seconds = 3.0

  @Option(help: "The page with the results, whose section is written.")
  var page: String?

  @Option(help: "What the section is to say of versions.")
  var remark: [String] = []

  func run() throws {
    let folder = try Runner.makeFolder("latencies")
    defer { try? FileManager.default.removeItem(at: folder) }
    print(LatencyResult.heading)
    var lines: [String] = []
    for (number, latencyCase) in Self.cases.enumerated() {
      for contestant in Contestant.allCases {
        lines.append(try measure(number, contestant, in: folder).line(latencyCase, contestant.rawValue))
        print(lines[lines.count - 1])
      }
    }
    if let page { try PageSection.latencies.write(section(lines), to: URL(fileURLWithPath: page)) }
  }

  fileprivate static let cases = LatencyCase.all + LatencyCase.durable

  /// Measures in a process of its own, over a copy of the store.
  private func measure(_ number: Int, _ contestant: Contestant, in folder: URL) throws -> LatencyResult {
    let file = folder.appendingPathComponent("run.sqlite")
    try StartingStore.indexedItems.copy(to: file, rows: Self.rows, in: folder)
    let process = Process()
    process.executableURL = Runner.program
    process.arguments = ["latency-child", contestant.rawValue, String(number), file.path, String(seconds)]
    return try JSONDecoder().decode(LatencyResult.self, from: Runner.lastLine(of: process))
  }

  private func section(_ lines: [String]) -> String {
    """
    Written by `Scripts/benchmark --latencies`, in \(Machine.description). \(remark.joined(separator: " "))
    One thread repeats the operation for \(seconds.formatted()) seconds on \(Self.rows.formatted()) objects while other
    threads of the same program save one changed object at a time, each a second after its last save or at full speed.
    Saves at full speed are those of all threads. Reads have a context of their own for each request. A save *to the
    disk* has `synchronous = FULL`, the others `NORMAL`. Where no figure stands, too few operations were measured.

    \(LatencyResult.heading)
    \(lines.joined(separator: "\n"))
    """
  }
}

/// A single measurement, for the parent process.
struct LatencyChild: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "latency-child", shouldDisplay: false)

  @Argument var contestant: String
  @Argument var number: Int
  @Argument var file: String
  @Argument var seconds: Double

  func run() throws {
    guard let contestant = Contestant(rawValue: contestant), Latencies.cases.indices.contains(number) else {
      throw ValidationError("There is no such measurement.")
    }
    let latencyCase = Latencies.cases[number]
    let maker = try FileSessions.maker(contestant, URL(fileURLWithPath: file), isDurable: latencyCase.isDurable)
    let result = try latencyCase.measure(seconds: seconds, rows: Latencies.rows, newSession: maker)
    print(String(decoding: try JSONEncoder().encode(result), as: UTF8.self))
  }
}
