/// The results of all workloads, in the form written as JSON.
struct Report: Encodable {
  struct Seconds: Encodable {
    let median: Double
    let min: Double
    let max: Double

    init(_ times: [Double]) {
      let times = times.sorted()
      median = times[times.count / 2]
      min = times[0]
      max = times[times.count - 1]
    }
  }

  /// One contestant in one workload.
  struct Row {
    let workload: Workload
    let rows: Int
    let contestant: Contestant
    let seconds: Seconds
    /// The basis of the target: the time relative to plain SQLite's or to that of other work, or bytes per row.
    let ratio: Double?
    let ratioToGRDB: Double?
    let peakBytes: Int
    let statements: Int?

    var target: Double? { contestant == .persist ? workload.target : nil }
    var isMissed: Bool {
      guard let target, let ratio else { return false }
      return ratio > target || peakBytes > workload.peakTarget ?? .max
    }
  }

  let machine: String
  var workloads: [Row] = []

  mutating func add(_ result: Runner.Result) {
    let values = result.runs.mapValues { value(of: $0, in: result) }
    let base: Double? =
      switch result.workload.measure {
      case .timeOverSQLite: values[.sqlite]
      case .timeOverFewer, .timeOverBasis: Seconds(result.basis.map(\.seconds)).median
      case .heldBytesPerRow, .milliseconds: 1
      }
    for contestant in Contestant.allCases {
      guard let runs = result.runs[contestant], let value = values[contestant] else { continue }
      workloads.append(
        Row(
          workload: result.workload, rows: result.rows, contestant: contestant, seconds: Seconds(runs.map(\.seconds)),
          ratio: base.map { value / $0 }, ratioToGRDB: values[.grdb].map { value / $0 },
          peakBytes: runs.map(\.peakBytes).max() ?? 0, statements: runs.first?.statements))
    }
  }

  private func value(of runs: [Measurement], in result: Runner.Result) -> Double {
    switch result.workload.measure {
    case .timeOverSQLite, .timeOverFewer, .timeOverBasis: Seconds(runs.map(\.seconds)).median
    case .milliseconds: Seconds(runs.map(\.seconds)).median * 1000
    case .heldBytesPerRow: Double(runs.compactMap(\.heldBytes).min() ?? 0) / Double(result.rows)
    }
  }
}

extension Report.Row: Encodable {
  enum CodingKeys: String, CodingKey {
    case name, rows, contestant, seconds, ratio, ratioToGRDB, peakBytes, statements, target
  }

  /// A missing value is null.
  func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(workload.name, forKey: .name)
    try fields.encode(rows, forKey: .rows)
    try fields.encode(contestant, forKey: .contestant)
    try fields.encode(seconds, forKey: .seconds)
    try fields.encode(ratio, forKey: .ratio)
    try fields.encode(ratioToGRDB, forKey: .ratioToGRDB)
    try fields.encode(peakBytes, forKey: .peakBytes)
    try fields.encode(statements, forKey: .statements)
    try fields.encode(target, forKey: .target)
  }
}
