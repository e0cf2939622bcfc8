import Foundation

/// The results as lines of text.
enum ReportTable {
  static let heading = line(
    "workload", "contestant", "median ms", "min", "max", "×SQLite", "×GRDB", "peak MB", "statements", "target")

  static func line(_ row: Report.Row) -> String {
    line(
      row.workload.name, row.contestant.rawValue, milliseconds(row.seconds.median), milliseconds(row.seconds.min),
      milliseconds(row.seconds.max), ratio(row), number(row.ratioToGRDB), megabytes(row.peakBytes),
      row.statements.map(String.init) ?? "", row.target.map { _ in target(row) } ?? "")
  }

  static func milliseconds(_ seconds: Double) -> String { number(seconds * 1000) }
  static func megabytes(_ bytes: Int) -> String { number(Double(bytes) / 1_048_576) }

  static func ratio(_ row: Report.Row) -> String {
    switch row.workload.measure {
    case .heldBytesPerRow: row.ratio.map { String(format: "%.0f B", $0) } ?? ""
    case .milliseconds: row.ratio.map { number($0) + " ms" } ?? ""
    case .timeOverSQLite, .timeOverFewer, .timeOverBasis: number(row.ratio)
    }
  }

  static func target(_ row: Report.Row) -> String {
    let target = row.workload.target
    let limit =
      switch row.workload.measure {
      case .heldBytesPerRow: "≤ \(Int(target)) B"
      case .milliseconds: "≤ \(Int(target)) ms"
      case .timeOverSQLite, .timeOverFewer, .timeOverBasis: "≤ \(target)"
      }
    let memory = row.workload.peakTarget.map { ", ≤ \($0 >> 20) MB" } ?? ""
    return limit + memory + (row.isMissed ? " missed" : "")
  }

  static func number(_ value: Double?) -> String {
    value.map { String(format: "%.2f", $0) } ?? ""
  }

  private static func line(_ columns: String...) -> String {
    columns.enumerated().map { index, text in
      let width = index < 2 ? 18 - 6 * index : 10
      let padding = String(repeating: " ", count: max(0, width - text.count))
      return index < 2 ? text + padding : padding + text
    }.joined(separator: " ")
  }
}
