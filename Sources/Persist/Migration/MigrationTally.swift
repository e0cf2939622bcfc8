/// Adds up the work of a migration and tells of it.
struct MigrationTally {
  private let weights: [Int64]
  private let total: Int64
  private let handler: AutomaticMigrator.ProgressHandler?
  private var position = 0
  private var completed: Int64 = 0

  init(_ weights: [Int64], report: AutomaticMigrator.ProgressHandler?) {
    self.weights = weights
    total = max(1, weights.reduce(0) { $0 &+ $1 })
    handler = report
  }

  /// - Returns: whether to go on.
  func report(_ current: String) -> Bool {
    guard let handler else { return true }
    return handler(MigrationProgress(completed: completed, total: total, current: current))
  }

  /// Asks again within a long statement; nil where nobody listens.
  var isToGoOn: (() -> Bool)? {
    guard let handler else { return nil }
    let progress = MigrationProgress(completed: completed, total: total, current: "")
    return { handler(progress) }
  }

  mutating func advance() {
    completed += weights[position]
    position += 1
  }
}
