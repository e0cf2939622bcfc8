import Foundation

/// The results of all workloads, as text and as JSON.
struct Report: Encodable {
  struct Seconds: Encodable {
    let median: Double
    let min: Double
    let max: Double
  }

  struct Row: Encodable {
    let name: String
    let rows: Int
    let contestant: Contestant
    let seconds: Seconds
    /// To plain SQLite.
    let ratio: Double?
    let ratioToGRDB: Double?
    let peakBytes: Int
    let statements: Int?
    let target: Double?
  }

  let machine: String
  var workloads: [Row] = []

  mutating func add(_ result: Runner.Result) {
    func median(_ contestant: Contestant) -> Double? {
      result.runs[contestant].map { $0.map(\.seconds).sorted()[$0.count / 2] }
    }
    for contestant in Contestant.allCases {
      guard let runs = result.runs[contestant], let middle = median(contestant) else { continue }
      let times = runs.map(\.seconds)
      workloads.append(
        Row(
          name: result.workload.name, rows: result.rows, contestant: contestant,
          seconds: Seconds(median: middle, min: times.min() ?? 0, max: times.max() ?? 0),
          ratio: median(.sqlite).map { middle / $0 }, ratioToGRDB: median(.grdb).map { middle / $0 },
          peakBytes: runs.map(\.peakBytes).max() ?? 0, statements: runs.first?.statements,
          target: contestant == .persist ? result.workload.target : nil))
    }
  }

  static var heading: String {
    line("workload", "contestant", "median ms", "min", "max", "×SQLite", "×GRDB", "peak MB", "statements", "target")
  }

  func lines(of name: String) -> [String] {
    workloads.filter { $0.name == name }.map { row in
      Self.line(
        row.name, row.contestant.rawValue, Self.number(row.seconds.median * 1000), Self.number(row.seconds.min * 1000),
        Self.number(row.seconds.max * 1000), Self.number(row.ratio), Self.number(row.ratioToGRDB),
        Self.number(Double(row.peakBytes) / 1_048_576), row.statements.map(String.init) ?? "",
        row.target.map { "≤ \($0)" } ?? "")
    }
  }

  private static func line(_ columns: String...) -> String {
    columns.enumerated().map { index, text in
      let width = index < 2 ? 13 : 10
      let padding = String(repeating: " ", count: max(0, width - text.count))
      return index < 2 ? text + padding : padding + text
    }.joined(separator: " ")
  }

  private static func number(_ value: Double?) -> String {
    value.map { String(format: "%.2f", $0) } ?? ""
  }
}
