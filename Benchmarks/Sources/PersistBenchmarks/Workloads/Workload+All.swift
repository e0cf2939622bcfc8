extension Workload {
  /// Every workload, in the order of the report.
  static let all: [Workload] =
    inserting + fetching + faulting + querying + plannedReading + walking + groupedReading + changing + batchChanging
    + history + streaming + threads + opening + manyVersions + registered + migrating
}
