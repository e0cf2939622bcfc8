import Foundation

/// The seeds that a law tries, by the environment.
///
/// | variable | meaning |
/// |---|---|
/// | `PERSIST_SEED` | this seed alone |
/// | `PERSIST_FIRST_SEED` | the seed to begin with, instead of 1 |
/// | `PERSIST_LAW_SECONDS` | goes on for so long, whatever the number of seeds; at least one is tried |
/// | `PERSIST_LONG_TESTS` | the law's long number of seeds instead of the short one |
struct SeedRange {
  private var next: UInt64
  private var left: UInt64
  private let deadline: ContinuousClock.Instant?

  init(short: UInt64, long: UInt64, environment: [String: String] = ProcessInfo.processInfo.environment) {
    if let only = environment["PERSIST_SEED"].flatMap(UInt64.init) {
      (next, left, deadline) = (only, 1, nil)
      return
    }
    next = environment["PERSIST_FIRST_SEED"].flatMap(UInt64.init) ?? 1
    deadline = environment["PERSIST_LAW_SECONDS"].flatMap(Double.init).map { ContinuousClock.now + .seconds($0) }
    left = deadline != nil ? .max : environment["PERSIST_LONG_TESTS"] != nil ? long : short
  }

  /// - Parameter tried: how many seeds were tried so far.
  mutating func take(after tried: Int) -> UInt64? {
    guard left > 0 else { return nil }
    if let deadline, tried > 0, ContinuousClock.now >= deadline { return nil }
    defer {
      next &+= 1
      left -= 1
    }
    return next
  }
}
