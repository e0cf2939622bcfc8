/// The progress of a path: of its hops one after another, and of the exchange of the store's content.
///
/// The costs of a hop are known once it begins. Until then, each counts as much as the last one that began.
final class PathProgress: Sendable {
  private struct State {
    /// The costs of the hops that began.
    var hops: [Int64] = []
    /// The completed part of the work of the last hop that began.
    var completed: Int64 = 0
  }

  private let report: MigrationProgress.Handler
  private let path: MigrationPath
  private let exchange: Int64
  private let state = LockProtected(State())

  /// - Parameter size: The size of the store in bytes. The new file's is about the same.
  init(_ report: @escaping MigrationProgress.Handler, through path: MigrationPath, exchanging size: Int) {
    self.report = report
    self.path = path
    exchange = max(1, WorkCost.pages(ofSize: size, each: WorkCost.exchangedPage))
  }

  /// Reports that the checks of the store begin. They report nothing while they run, and half of them counts, so that
  /// the fraction is never wrong by more than the other half.
  ///
  /// - Parameter costs: The costs of the checks and of each hop.
  /// - Returns: Whether to continue.
  func begin(_ costs: (preparation: Int64, hop: Int64)) -> Bool {
    guard let first = path.hops.first else { return true }
    let pass: MigrationProgress.Pass = if case .mapping = first.method { .objects } else { .inPlace }
    return report(
      MigrationProgress(
        completed: costs.preparation / 2, total: Int64(path.hops.count) * costs.hop + exchange, current: "",
        hop: path.reportedHop(0), pass: pass))
  }

  /// A handler for the progress of one hop.
  func handler(hop number: Int) -> MigrationProgress.Handler {
    let hop = path.reportedHop(number)
    return { [self] progress in
      var progress = progress
      (progress.completed, progress.total) = state.withLock { state in
        while state.hops.count <= number { state.hops.append(state.hops.last ?? 1) }
        // A stage's code has no costs of its own.
        if progress.pass != .stage {
          state.hops[number] = max(progress.total, 1)
          state.completed = min(progress.completed, progress.total)
        }
        return numbers(state)
      }
      progress.hop = hop
      if progress.pass == .done { progress.pass = .validation }
      return report(progress)
    }
  }

  private func numbers(_ state: State) -> (completed: Int64, total: Int64) {
    let before = state.hops.dropLast().reduce(0, +)
    let missing = Int64(path.hops.count - state.hops.count) * (state.hops.last ?? 0)
    return (before + state.completed, before + (state.hops.last ?? 0) + missing + exchange)
  }

  /// Reports that a fraction of the store's content is replaced.
  ///
  /// - Returns: Whether to continue.
  func exchange(_ fraction: Double) -> Bool {
    let hops = state.withLock { $0.hops.reduce(0, +) }
    return report(
      MigrationProgress(
        completed: hops + Int64(fraction * Double(exchange)), total: hops + exchange, current: "",
        hop: path.reportedHop(path.hops.count - 1), pass: .exchange))
  }
}
