import Foundation

/// The ratios to plain SQLite as bars, one group for each workload, with a mark at the target.
struct RatioPlot {
  let report: Report

  private static let (left, width, barHeight, gap) = (150.0, 640.0, 12.0, 10.0)
  private static let greatest = 8.0
  private static let colours: [Contestant: String] = [.persist: "#d9480f", .grdb: "#868e96"]

  var svg: String {
    var parts: [String] = []
    var y = 50.0
    for rows in groups {
      parts += group(rows, at: y)
      y += Double(rows.count) * Self.barHeight + Self.gap
    }
    let height = y + 30
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.left + Self.width + 70)" height="\(height)" \
      font-family="sans-serif" font-size="11">
      <rect width="100%" height="100%" fill="white"/>
      <text x="10" y="20" font-size="14">Time over plain SQLite's, less is better; │ marks the target</text>
      \(legend)
      <line x1="\(x(1))" y1="40" x2="\(x(1))" y2="\(height - 25)" stroke="#228be6" stroke-dasharray="3 3"/>
      <text x="\(x(1) - 22)" y="\(height - 10)" fill="#228be6">SQLite = 1</text>
      \(parts.joined(separator: "\n"))
      </svg>

      """
  }

  /// The rows with ratios of times, by workload.
  private var groups: [[Report.Row]] {
    let rows = report.workloads.filter { $0.contestant != .sqlite && $0.workload.measure == .timeOverSQLite }
    var names: [String] = []
    for row in rows where !names.contains(row.workload.name) { names.append(row.workload.name) }
    return names.map { name in rows.filter { $0.workload.name == name && $0.ratio != nil } }
  }

  private func group(_ rows: [Report.Row], at top: Double) -> [String] {
    guard let first = rows.first else { return [] }
    let bottom = top + Double(rows.count) * Self.barHeight
    let bars = rows.enumerated().map { index, row in
      let (y, ratio) = (top + Double(index) * Self.barHeight, row.ratio ?? 0)
      let end = x(min(ratio, Self.greatest))
      return """
        <rect x="\(Self.left)" y="\(y)" width="\(end - Self.left)" height="\(Self.barHeight - 2)" \
        fill="\(Self.colours[row.contestant] ?? "black")"/>
        <text x="\(end + 4)" y="\(y + 9)">\(ReportTable.number(ratio))</text>
        """
    }
    let mark = x(min(first.workload.target, Self.greatest))
    return bars + [
      "<text x=\"\(Self.left - 8)\" y=\"\(top + 9)\" text-anchor=\"end\">\(first.workload.name)</text>",
      "<line x1=\"\(mark)\" y1=\"\(top - 2)\" x2=\"\(mark)\" y2=\"\(bottom)\" stroke=\"black\" stroke-width=\"2\"/>",
    ]
  }

  private var legend: String {
    [Contestant.persist, .grdb].enumerated().map { index, contestant in
      let x = Self.left + Self.width - 140 + Double(index) * 80
      return """
        <rect x="\(x)" y="11" width="10" height="10" fill="\(Self.colours[contestant] ?? "black")"/>
        <text x="\(x + 14)" y="20">\(contestant.rawValue)</text>
        """
    }.joined(separator: "\n")
  }

  private func x(_ ratio: Double) -> Double { Self.left + ratio / Self.greatest * Self.width }
}
