import Foundation
import Persist
import Testing

/// One run of a law: the current seed, the number of seeds tried, and the failed ones.
final class LawRun: Sendable {
  @TaskLocal static var current: LawRun?

  /// More failing seeds provide no new information.
  private static let failureLimit = 5

  private struct State {
    var seeds: SeedRange
    var current: UInt64?
    /// All seeds tried, which are consecutive.
    var tried: ClosedRange<UInt64>?
    var count = 0
    var failures: [UInt64] = []
  }

  private let name: String
  private let state: LockProtected<State>
  private let log: CampaignLog?
  private let progress: LongLoop
  private let total: UInt64?
  private let start = ContinuousClock.now

  init(_ name: String, short: UInt64, long: UInt64) {
    self.name = name
    let seeds = SeedRange(short: short, long: long)
    total = seeds.total
    state = LockProtected(State(seeds: seeds))
    progress = LongLoop(name, of: total, isReporting: TestLength.isLong)
    log = CampaignLog(law: name)
  }

  static var required: LawRun {
    guard let current else { preconditionFailure("forEachSeed(_:) belongs into a test with the trait .law(…).") }
    return current
  }

  var count: Int { state.withLock { $0.count } }

  func next() -> UInt64? {
    let seed: UInt64? = state.withLock { state in
      state.current = state.failures.count < Self.failureLimit ? state.seeds.take(after: state.count) : nil
      if let seed = state.current {
        state.count += 1
        state.tried = (state.tried?.lowerBound ?? seed)...seed
      }
      return state.current
    }
    if let seed {
      log?.begin(seed)
      progress.advance()
    }
    return seed
  }

  /// Records an error thrown by a try, unless it is a failed expectation, which is already recorded.
  func record(_ error: any Error, at location: SourceLocation) {
    recordFailure()
    if !(error is ExpectationFailedError) { Issue.record(error, sourceLocation: location) }
  }

  #if compiler(>=6.2)
    /// The issue with its seed.
    func record(_ issue: Issue) -> Issue {
      guard let seed = recordFailure() else { return issue }
      var issue = issue
      issue.comments.append("Law '\(name)', PERSIST_SEED=\(seed)")
      return issue
    }
  #endif

  @discardableResult
  private func recordFailure() -> UInt64? {
    state.withLock { state in
      if let seed = state.current, state.failures.last != seed { state.failures.append(seed) }
      return state.current
    }
  }

  func finish() {
    let (count, failures, tried) = state.withLock { ($0.count, $0.failures, $0.tried) }
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    log?.finish(inputs: count, seconds: seconds, failures: failures, seeds: tried)
    if TestLength.isLong, let total, count < total {
      print("\(name): \(count) of \(total) seeds were tried in \(Int(seconds)) s")
    }
  }
}
