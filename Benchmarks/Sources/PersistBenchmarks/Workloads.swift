extension Workload {
  /// Every workload, in the order of the report.
  static var all: [Workload] {
    [
      Workload(name: "insert", rows: 200_000, target: 1.8, start: .empty, isWarm: false, part: { $0.insert }),
      Workload(name: "fetchCold", rows: 200_000, target: 2.0, start: .filled, isWarm: false, part: { $0.fetch }),
      Workload(name: "fetchWarm", rows: 200_000, target: 1.4, start: .filled, isWarm: true, part: { $0.fetch }),
      Workload(name: "readCold", rows: 200_000, target: 2.2, start: .filled, isWarm: false, part: { $0.read }),
      Workload(name: "readWarm", rows: 200_000, target: 1.6, start: .filled, isWarm: true, part: { $0.read }),
      Workload(name: "update", rows: 200_000, target: 1.5, start: .filled, isWarm: false, part: { $0.update }),
      Workload(name: "delete", rows: 200_000, target: 1.3, start: .filled, isWarm: false, part: { $0.delete }),
    ]
  }
}
