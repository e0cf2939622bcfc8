import Foundation

/// The growth of single operations, as a section of the page.
enum CurveTable {
  static func section(_ lines: [GrowthCurve.Line], _ remarks: [String]) -> String {
    let tables = GrowthCurve.Axis.allCases.compactMap { axis -> String? in
      let own = lines.filter { $0.curve.axis == axis }
      guard let sizes = own.first?.sizes, !sizes.isEmpty else { return nil }
      return """
        **By \(axis.summary)**

        | operation | \(sizes.map(grouped).joined(separator: " | ")) | beyond SQLite |
        |---|\(sizes.map { _ in "---|" }.joined())---|
        \(own.map(row).joined(separator: "\n"))
        """
    }
    return """
      Written by `Scripts/benchmark --curves`. \(remarks.joined(separator: " "))
      Thousands of instructions of one operation, or of one unit of what it visits where the name says *each*, with
      plain SQLite's in parentheses, while one measure of the store grows and all others stay. The last column is the
      growth of Persist's instructions relative to the growth of plain SQLite's, with a limit of \(Growth.allowance).
      Each operation is done in a process of its own, twenty times where it can be repeated.

      ![Instructions by size](curves.svg)

      \(tables.joined(separator: "\n\n"))
      """
  }

  static func row(_ line: GrowthCurve.Line) -> String {
    let costs = zip(line.persist, line.sqlite).map { "\(thousands($0)) (\(thousands($1)))" }
    let excess = ReportTable.number(line.excess) + (line.bends ? " bends" : "")
    let each = line.curve.isPerUnit ? " (each)" : ""
    return "| **\(line.curve.name)**\(each): \(line.curve.summary) | \(costs.joined(separator: " | ")) | \(excess) |"
  }

  private static func thousands(_ instructions: Double) -> String {
    String(format: instructions < 10_000 ? "%.2f" : "%.1f", instructions / 1_000)
  }

  static func grouped(_ number: Int) -> String {
    let digits = String(number)
    return String(
      digits.enumerated().flatMap { index, digit in
        index > 0 && (digits.count - index) % 3 == 0 ? [",", digit] : [digit]
      })
  }
}
