/// Combines the progress of all parts of a migration, with the remaining time. The result is monotonic even if an
/// attempt is repeated.
final class ProgressAggregator: Sendable {
  private struct State {
    var total: Int64 = 1
    var completed: Int64 = 0
  }

  private let handler: AutomaticMigrator.ProgressHandler
  private let start = ContinuousClock.now
  private let state = LockProtected(State())
  /// The minimum time before the pace can be estimated.
  private static let shortest: Duration = .milliseconds(200)

  init(_ handler: @escaping AutomaticMigrator.ProgressHandler) { self.handler = handler }

  /// - Returns: whether to continue.
  func report(_ progress: MigrationProgress) -> Bool {
    var progress = progress
    (progress.completed, progress.total) = state.withLock { state in
      if state.completed == 0 { state.total = max(progress.total, 1) }
      let reached = Int64((progress.fraction * Double(state.total)).rounded(.down))
      // The end is the commit, which isn't part of the reported work.
      state.completed = max(state.completed, progress.pass == .done ? state.total : min(reached, state.total - 1))
      return (state.completed, state.total)
    }
    progress.timeLeft = timeLeft(progress)
    return handler(progress)
  }

  private func timeLeft(_ progress: MigrationProgress) -> Duration? {
    if progress.pass == .done { return .zero }
    let elapsed = ContinuousClock.now - start
    guard progress.completed > 0, elapsed > Self.shortest else { return nil }
    return elapsed * (Double(progress.total - progress.completed) / Double(progress.completed))
  }

  /// Reports the end, after which nothing can be canceled.
  func end(_ result: MigrationReport) {
    _ = report(
      MigrationProgress(
        completed: 1, total: 1, current: "",
        hop: .init(number: result.hops, count: result.hops, from: result.from, to: result.to), pass: .done))
  }
}
