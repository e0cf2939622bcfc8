extension Workload {
  /// Every workload, in the order of the report.
  static let all: [Workload] =
    inserting + fetching + faulting + querying + plannedReading + requests + walking + groupedReading + changing
    + batchChanging + history + streaming + threads + opening + manyVersions + registered + migrating

  /// The workload with a name, growth curves included.
  static func named(_ name: String) -> Workload? {
    all.first { $0.name == name } ?? GrowthCurve.all.lazy.map(\.workload).first { $0.name == name }
  }
}
