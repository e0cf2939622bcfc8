extension Workload {
  /// Every workload, in the order of the report.
  static let all: [Workload] =
    inserting + fetching + faulting + querying + walking + changing + batchChanging + streaming + opening
    + manyVersions + registered + migrating
}
