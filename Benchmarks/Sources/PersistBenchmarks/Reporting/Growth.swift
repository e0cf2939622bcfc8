/// How the time per row grows with the number of rows, beside plain SQLite's own growth.
struct Growth {
  static let sizes = [10_000, 100_000, 1_000_000]
  /// How much more than plain SQLite's the time per row may grow.
  static let allowance = 1.15

  let workload: String
  /// Nanoseconds per row by size.
  let persist: [Double]
  let sqlite: [Double]

  /// How far the time per row grew, from the least number of rows to the greatest, beyond plain SQLite's.
  var excess: Double { (persist[persist.count - 1] / persist[0]) / (sqlite[sqlite.count - 1] / sqlite[0]) }
  var isMissed: Bool { excess > Self.allowance }

  /// Of those workloads whose time is compared with plain SQLite's. One size after the other, so that the stores that
  /// runs begin with are made once for each.
  static func measure(_ workloads: [Workload], by runner: Runner) throws -> [Growth] {
    let scaling = workloads.filter { $0.scales && $0.measure == .timeOverSQLite }
    var times: [String: [Contestant: [Double]]] = [:]
    for rows in sizes {
      runner.forgetTemplates()
      for workload in scaling {
        // The sizes are those of the stores, where the work takes fewer rows.
        let rows = rows / workload.storeRowsPerRow
        let result = try runner.run(workload, rows: rows, contestants: [.persist, .sqlite])
        for (contestant, runs) in result.runs {
          // The least time is what the machine was least disturbed in.
          let seconds = runs.map(\.seconds).min() ?? 0
          times[workload.name, default: [:]][contestant, default: []].append(seconds / Double(rows) * 1e9)
        }
      }
    }
    return scaling.compactMap { workload in
      guard let persist = times[workload.name]?[.persist], let sqlite = times[workload.name]?[.sqlite] else {
        return nil
      }
      return Growth(workload: workload.name, persist: persist, sqlite: sqlite)
    }
  }

  var line: String {
    func nanoseconds(_ times: [Double]) -> String { times.map { String(Int($0.rounded())) }.joined(separator: " → ") }
    return "\(workload): \(nanoseconds(persist)) ns per row, SQLite \(nanoseconds(sqlite)); "
      + "×\(ReportTable.number(excess)) beyond SQLite's" + (isMissed ? " missed" : "")
  }
}
