import ArgumentParser
import Foundation

@main
struct PersistBenchmarks: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "PersistBenchmarks",
    abstract: "Measures Persist against plain SQLite and GRDB, round by round, each run in a process of its own.",
    subcommands: [Compare.self, Child.self], defaultSubcommand: Compare.self)
}

struct Compare: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "Runs the workloads and prints their ratios.")

  @Option(parsing: .upToNextOption, help: "Names of the workloads to run; all without it.")
  var only: [String] = []

  @Option(help: "Rows instead of each workload's own number.")
  var rows: Int?

  @Option(help: "How often each contestant runs each workload.")
  var rounds = 5

  @Option(help: "Where to write the results as JSON.")
  var json: String?

  func run() throws {
    for name in only where !Workload.all.contains(where: { $0.name == name }) {
      throw ValidationError("There is no workload '\(name)'; there are \(Workload.all.map(\.name).joined(separator: ", ")).")
    }
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("persist-benchmarks-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let runner = Runner(rounds: rounds, rowsOverride: rows, folder: folder)
    var report = Report(machine: "\(ProcessInfo.processInfo.operatingSystemVersionString), \(ProcessInfo.processInfo.activeProcessorCount) cores")
    print(Report.heading)
    for workload in Workload.all where only.isEmpty || only.contains(workload.name) {
      report.add(try runner.run(workload))
      report.lines(of: workload.name).forEach { print($0) }
    }
    if let json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      try encoder.encode(report).write(to: URL(fileURLWithPath: json))
    }
  }
}

/// One run, for the parent process.
struct Child: ParsableCommand {
  static let configuration = CommandConfiguration(shouldDisplay: false)

  @Argument var workload: String
  @Argument var contestant: String
  @Argument var file: String
  @Argument var rows: Int
  @Argument var mode: String

  func run() throws {
    guard let workload = Workload.all.first(where: { $0.name == workload }),
      let contestant = Contestant(rawValue: contestant)
    else { throw ValidationError("no such run") }
    try ChildRun.perform(
      workload, contestant, setting: .init(file: URL(fileURLWithPath: file), rows: rows), counting: mode == "count")
  }
}
