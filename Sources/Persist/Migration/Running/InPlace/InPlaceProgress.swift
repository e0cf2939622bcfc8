/// Counts the work of a migration in place, and reports it.
struct InPlaceProgress {
  private let weights: [Int64]
  private let total: Int64
  private let hop: MigrationProgress.Hop
  private let handler: AutomaticMigrator.ProgressHandler?
  private var position = 0
  private var completed: Int64 = 0

  init(_ weights: [Int64], hop: MigrationProgress.Hop, report: AutomaticMigrator.ProgressHandler?) {
    self.weights = weights
    self.hop = hop
    total = max(1, weights.reduce(0) { $0 &+ $1 })
    handler = report
  }

  /// The number of rows that the next change processes.
  var weight: Int64 { position < weights.count ? weights[position] : 0 }

  /// A closure that reports the processed rows of the next change and returns whether to continue; nil without a
  /// handler.
  func question(_ current: String, entity: String?) -> ((Int64) -> Bool)? {
    guard let handler else { return nil }
    let (completed, weight) = (completed, weight)
    let state = MigrationProgress(completed: completed, total: total, current: current, hop: hop, entity: entity)
    return { rows in
      var state = state
      state.completed = completed + min(rows, weight)
      return handler(state)
    }
  }

  mutating func advance() {
    completed += weight
    position += 1
  }
}
