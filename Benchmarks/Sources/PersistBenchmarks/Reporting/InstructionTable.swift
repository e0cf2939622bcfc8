import Foundation

/// The instructions of workloads, per unit of work.
struct InstructionTable {
  private struct Row {
    let workload: Workload
    let contestant: Contestant
    let rows: Int
    let count: InstructionCount
    let pageFaults: Int

    /// The number of units: rows, or one if the work doesn't grow with them.
    var units: Int { workload.scales ? rows : 1 }

    func perUnit(_ value: Int) -> Int { Int((Double(value) / Double(units)).rounded()) }
  }

  private var rows: [Row] = []

  mutating func add(
    _ workload: Workload, _ contestant: Contestant, rows count: Int, _ instructions: InstructionCount, pageFaults: Int
  ) {
    rows.append(
      Row(workload: workload, contestant: contestant, rows: count, count: instructions, pageFaults: pageFaults))
  }

  /// Persist's own instructions per unit, by the name of the workload.
  var ownPerUnit: [String: Int] { perUnit(\.own) }

  /// The same of Swift's standard library.
  var swiftPerUnit: [String: Int] { perUnit(\.swift) }

  private func perUnit(_ count: KeyPath<InstructionCount, Int>) -> [String: Int] {
    Dictionary(
      rows.filter { $0.contestant == .persist }.map { ($0.workload.name, $0.perUnit($0.count[keyPath: count])) },
      uniquingKeysWith: { $1 })
  }

  var lastLine: String { rows.last.map(line) ?? "" }

  private func line(_ row: Row) -> String {
    let allocations = String(format: "%.1f", Double(row.count.allocations) / Double(row.units))
    return """
      | \(row.contestant == .persist ? "**\(row.workload.name)**" : "") | \(row.contestant.rawValue) \
      | \(row.perUnit(row.count.all)) | \(ratio(row, to: .sqlite)) | \(ratio(row, to: .grdb)) \
      | \(row.contestant == .persist ? String(row.perUnit(row.count.own)) : "") | \(allocations) | \(row.pageFaults) |
      """
  }

  private func ratio(_ row: Row, to other: Contestant) -> String {
    guard let base = rows.first(where: { $0.workload.name == row.workload.name && $0.contestant == other }) else {
      return ""
    }
    return String(format: "%.2f", Double(row.count.all) / Double(max(base.count.all, 1)))
  }

  func section(_ remarks: [String]) -> String {
    """
    Written by `Scripts/benchmark --instructions`. \(remarks.joined(separator: " "))
    Instructions of all threads for each row, or for the whole work if it doesn't grow with the rows: the difference of
    two runs under callgrind, with and without the work. *Own* are those of Persist's code in the program; the others
    are in SQLite's library, Swift's and the system's. Allocations are for each row too, and page faults for the whole
    run.

    | workload | contestant | instructions | × SQLite | × GRDB | own | allocations | page faults |
    |---|---|---|---|---|---|---|---|
    \(rows.map(line).joined(separator: "\n"))
    """
  }
}
