import ArgumentParser
import Foundation

@main
struct PersistBenchmarks: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "PersistBenchmarks",
    abstract: "Measures Persist against plain SQLite and GRDB, round by round, each run in a process of its own.",
    subcommands: [Compare.self, Instructions.self, Curves.self, Latencies.self, LatencyChild.self, Child.self],
    defaultSubcommand: Compare.self)
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

  @Option(help: "Where to draw the ratios, as SVG.")
  var plot: String?

  @Option(help: "Where to write the results as a page to read.")
  var page: String?

  @Option(help: "What the page is to say of versions and circumstances; may be given several times.")
  var remark: [String] = []

  @Flag(help: "Measure each workload at 10,000, 100,000 and 1,000,000 rows too.")
  var growth = false

  func validate() throws {
    for name in only where !Workload.all.contains(where: { $0.name == name }) {
      let names = Workload.all.map(\.name).joined(separator: ", ")
      throw ValidationError("There is no workload '\(name)'; there are \(names).")
    }
    if rounds < 1 { throw ValidationError("There must be a round.") }
    if let rows, rows < 1_000 { throw ValidationError("The workloads need 1,000 rows at least.") }
  }

  func run() throws {
    let folder = try Runner.makeFolder("benchmarks")
    defer { try? FileManager.default.removeItem(at: folder) }
    MachineMemory.touchFree()
    let report = try compare(Runner(rounds: rounds, folder: folder))
    let growth = try growth ? measureGrowth(Runner(rounds: 1, folder: folder)) : []
    try write(report, growth)
  }

  private var workloads: [Workload] { Workload.all.filter { only.isEmpty || only.contains($0.name) } }

  private func compare(_ runner: Runner) throws -> Report {
    var report = Report(machine: Machine.description)
    print(ReportTable.heading)
    for workload in workloads {
      let known = report.workloads.count
      report.add(try runner.run(workload, rows: workload.scales ? rows : nil))
      for row in report.workloads[known...] { print(ReportTable.line(row)) }
    }
    return report
  }

  private func measureGrowth(_ runner: Runner) throws -> [Growth] {
    let growth = try Growth.measure(workloads, by: runner)
    for row in growth { print(row.line) }
    return growth
  }

  private func write(_ report: Report, _ growth: [Growth]) throws {
    if let json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      try encoder.encode(report).write(to: URL(fileURLWithPath: json))
    }
    if let plot { try Data(RatioPlot(report: report).svg.utf8).write(to: URL(fileURLWithPath: plot)) }
    if let page {
      let file = URL(fileURLWithPath: page)
      let previous = FileManager.default.fileExists(atPath: page) ? try String(contentsOf: file, encoding: .utf8) : ""
      let text = BenchmarkKey.isUsed
        ? PageSection.encrypted.replaced(in: previous, with: ResultsPage.encrypted(report, remark))
        : ResultsPage(report: report, growth: growth, remarks: remark, previous: previous).text
      try Data(text.utf8).write(to: file)
    }
  }
}

/// A single run, for the parent process.
struct Child: ParsableCommand {
  static let configuration = CommandConfiguration(shouldDisplay: false)

  @Argument var workload: String
  @Argument var contestant: String
  @Argument var file: String
  @Argument var rows: Int
  @Argument var mode: String

  func run() throws {
    guard let workload = Workload.named(workload),
      let mode = ChildRun.Mode(rawValue: mode),
      let part = mode == .basis ? workload.basis : Contestant(rawValue: contestant).flatMap({ workload.parts[$0] })
    else { throw ValidationError("There is no such run.") }
    let setting = workload.setting(file: URL(fileURLWithPath: file), rows: rows)
    try ChildRun.perform(workload, part, setting, mode)
  }
}
