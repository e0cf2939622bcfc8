import Foundation

/// The results as a readable page: `RESULTS.md`.
struct ResultsPage {
  let report: Report
  let growth: [Growth]
  /// Versions and circumstances, as described by whoever started the run.
  let remarks: [String]
  /// The previous page, whose sections that other runs write are kept.
  var previous = ""

  var text: String {
    """
    # The performance of Persist, plain SQLite and GRDB

    Written by `Scripts/benchmark`. \(report.machine).
    \(remarks.joined(separator: "\n"))

    Each run is a separate process, and contestants alternate in rounds. Times are medians, with the minimum and maximum.
    Much of the free memory was touched once before, because a virtual machine may get it from its host on first use.
    All contestants did the same work: checksums of the values that they read, and of the file's content, are equal.
    *Peak* is the increase of the process's memory during the work.

    ![Times over plain SQLite's](ratios.svg)

    \(table)

    \(shortfalls)

    \(growthTable)
    \(PageSection.allCases.map { $0.text(in: previous) }.joined())
    """
  }

  /// The section of stores that are encrypted, of which the report is.
  static func encrypted(_ report: Report, _ remarks: [String]) -> String {
    """
    Written by `Scripts/benchmark --key`. \(report.machine). \(remarks.joined(separator: " "))
    All contestants use SQLCipher, with a raw key; *SQLite* is SQLCipher by hand. Medians, with minimum and maximum.
    Where a ratio is above that of plain files, Persist decrypts or encrypts pages more often than the work by hand: a
    batch update reads the rows before it changes them, a save with history writes more pages, and a migration by copy
    encrypts its pages in the new file, and again when it replaces the store's content.

    \(ResultsPage(report: report, growth: [], remarks: []).table)
    """
  }

  private var table: String {
    var lines = [
      "| workload | contestant | ms (minimum–maximum) | × SQLite | × GRDB | peak MB | statements | target |",
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
        + (row.workload.shortfall ?? "Not explained yet. Check whether the machine was idle.")
    }
    return "## Missed targets\n\n" + lines.joined(separator: "\n")
  }

  private var growthTable: String {
    guard !growth.isEmpty else { return "" }
    let sizes = Growth.sizes.map { "\($0) rows" }.joined(separator: " | ")
    var lines = [
      """
      ## Growth

      Nanoseconds per row, with plain SQLite's in parentheses. The last column is the growth of Persist's time relative
      to the growth of plain SQLite's, with a limit of \(Growth.allowance).

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
