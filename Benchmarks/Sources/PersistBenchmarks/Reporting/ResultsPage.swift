import Foundation

/// The results as a page to read: `RESULTS.md`.
struct ResultsPage {
  let report: Report
  let growth: [Growth]
  /// Versions and circumstances, in the words of who started the run.
  let remarks: [String]

  var text: String {
    """
    # What Persist costs, beside plain SQLite and GRDB

    Written by `Scripts/benchmark`. \(report.machine).
    \(remarks.joined(separator: "\n"))

    Each run is a process of its own; contestants take turns, round by round. Times are medians, with the least and the
    greatest. All contestants did the same: sums over what they read, and over what was in the file, are equal. *Peak*
    is how far the memory of the process rose during the work.

    ![Times over plain SQLite's](ratios.svg)

    \(table)

    \(shortfalls)

    \(growthTable)

    """
  }

  private var table: String {
    var lines = [
      "| workload | contestant | ms (least–greatest) | × SQLite | × GRDB | peak MB | statements | target |",
      "|---|---|---|---|---|---|---|---|",
    ]
    for row in report.workloads {
      let time = """
        \(ReportTable.milliseconds(row.seconds.median)) (\(ReportTable.milliseconds(row.seconds.min))–\
        \(ReportTable.milliseconds(row.seconds.max)))
        """
      let isPersist = row.contestant == .persist
      lines.append(
        """
        | \(isPersist ? "**\(row.workload.name)**: \(row.workload.summary)" : "") | \(row.contestant.rawValue) \
        | \(time) | \(ReportTable.ratio(row)) | \(ReportTable.number(row.ratioToGRDB)) \
        | \(ReportTable.megabytes(row.peakBytes)) \
        | \(row.statements.map(String.init) ?? "") | \(isPersist ? ReportTable.target(row) : "") |
        """)
    }
    return lines.joined(separator: "\n")
  }

  private var shortfalls: String {
    let missed = report.workloads.filter(\.isMissed)
    guard !missed.isEmpty else { return "## Targets\n\nAll are met." }
    let lines = missed.map { row in
      "- **\(row.workload.name)**: \(ReportTable.ratio(row)), \(ReportTable.target(row)). "
        + (row.workload.shortfall ?? "Not explained yet: see whether the machine was quiet.")
    }
    return "## Missed targets\n\n" + lines.joined(separator: "\n")
  }

  private var growthTable: String {
    guard !growth.isEmpty else { return "" }
    let sizes = Growth.sizes.map { "\($0) rows" }.joined(separator: " | ")
    var lines = [
      """
      ## Growth

      Nanoseconds per row, plain SQLite's in brackets; and how far Persist's grew beyond plain SQLite's, at most \
      \(Growth.allowance).

      | workload | \(sizes) | beyond SQLite |
      |---|---|---|---|---|
      """
    ]
    for row in growth {
      let times = zip(row.persist, row.sqlite).map { "\(Int($0.rounded())) (\(Int($1.rounded())))" }
      lines.append(
        "| \(row.workload) | \(times.joined(separator: " | ")) "
          + "| \(ReportTable.number(row.excess))\(row.isMissed ? " missed" : "") |")
    }
    return lines.joined(separator: "\n")
  }
}
