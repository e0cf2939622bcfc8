/// The growth of the time per row with the number of rows, relative to plain SQLite's own growth.
struct Growth {
  static let sizes = [10_000, 100_000, 1_000_000]
  /// The maximum growth of the time per row relative to plain SQLite's.
  static let allowance = 1.15

  let workload: String
  /// Nanoseconds per row by size.
  let persist: [Double]
  let sqlite: [Double]

  /// The growth of the time per row, from the smallest number of rows to the largest, relative to plain SQLite's.
  var excess: Double { (persist[persist.count - 1] / persist[0]) / (sqlite[sqlite.count - 1] / sqlite[0]) }
  var isMissed: Bool { excess > Self.allowance }

  /// For the workloads whose time is compared with plain SQLite's. One size after another, so that the stores with
  /// which runs begin are created once for each.
  static func measure(_ workloads: [Workload], by runner: Runner) throws -> [Growth] {
    let scaling = workloads.filter { $0.scales && $0.measure == .timeOverSQLite }
    var times: [String: [Contestant: [Double]]] = [:]
    for rows in sizes {
      runner.forgetTemplates()
      for workload in scaling {
        // The sizes are those of the stores, if the work uses fewer rows.
        let rows = rows / workload.storeRowsPerRow
        let result = try runner.run(workload, rows: rows, contestants: [.persist, .sqlite])
        for (contestant, runs) in result.runs {
          // The minimum time is the one with the least disturbance by the machine.
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
