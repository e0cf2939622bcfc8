import ArgumentParser
import Foundation

/// Counts instructions instead of seconds, so that the figures are the same on a quiet machine and on a busy one.
struct Instructions: ParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Counts the instructions, page faults and allocations of the workloads, under callgrind.")

  /// The workloads whose own instructions are bounded.
  static let central = [
    "insert", "fetchWarm", "readWarm", "update", "delete", "query", "page", "fault", "open", "smallSave",
  ]
  /// The key of the bound of what Swift's library does when a process opens its first store: most of it creates types
  /// that are used for the first time, of which a new one takes 10,000 to 500,000 instructions.
  static let firstUses = "open, in Swift's library"
  /// The greatest increase of Persist's own instructions. Faults are read in groups that end after five milliseconds,
  /// so that their number depends on the machine's speed.
  static func allowance(of name: String) -> Double { name == "fault" ? 0.15 : 0.03 }

  @Option(parsing: .upToNextOption, help: "Names of the workloads; all that have a counterpart without it.")
  var only: [String] = []

  @Option(help: "The divisor of each workload's number of rows.")
  var divisor = 20

  @Option(help: "The page with the results, whose section is written.")
  var page: String?

  @Option(help: "What the section is to say of versions.")
  var remark: [String] = []

  @Option(help: "The file with the bounds of Persist's own instructions, for the central workloads.")
  var bounds: String?

  @Flag(help: "Write the bounds instead of comparing with them.")
  var record = false

  func run() throws {
    let folder = try Runner.makeFolder("instructions")
    defer { try? FileManager.default.removeItem(at: folder) }
    let runner = Runner(rounds: 1, folder: folder)
    let names = bounds != nil && only.isEmpty && page == nil ? Self.central : only
    var table = InstructionTable()
    for workload in Workload.all where names.isEmpty || names.contains(workload.name) {
      let rows = workload.scales ? max(1000, workload.rows / divisor) : workload.rows
      for contestant in workload.contestants {
        // Only their own work has bounds.
        if bounds != nil, page == nil, contestant != .persist { continue }
        let (measurement, count) = try runner.count(workload, contestant, rows: rows)
        table.add(workload, contestant, rows: rows, count, pageFaults: measurement.pageFaults)
        print(table.lastLine)
      }
    }
    if let page { try PageSection.instructions.write(table.section(remark), to: URL(fileURLWithPath: page)) }
    if let bounds { try compare(table, with: URL(fileURLWithPath: bounds)) }
  }

  /// - Throws: `ExitCode.failure` if a central workload has more instructions of its own than its bound allows.
  private func compare(_ table: InstructionTable, with file: URL) throws {
    var own = table.ownPerUnit.filter { Self.central.contains($0.key) }
    own[Self.firstUses] = table.swiftPerUnit["open"]
    if record {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
      return try (encoder.encode(own) + Data("\n".utf8)).write(to: file)
    }
    let recorded = try JSONDecoder().decode([String: Int].self, from: Data(contentsOf: file))
    var isExceeded = false
    for name in Self.central + [Self.firstUses] {
      guard let bound = recorded[name], let found = own[name] else { continue }
      let growth = Double(found) / Double(bound) - 1
      let isTooMuch = growth > Self.allowance(of: name)
      isExceeded = isExceeded || isTooMuch
      let words = String(format: "%+.1f %%", growth * 100)
      let whose = name == Self.firstUses ? "" : " of Persist's own"
      print("\(name): \(found) instructions\(whose), \(words)\(isTooMuch ? ", too many" : "")")
    }
    if isExceeded { throw ExitCode.failure }
  }
}
