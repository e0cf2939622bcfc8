import Foundation

/// The seeds of a law, according to the environment.
///
/// | variable | meaning |
/// |---|---|
/// | `PERSIST_SEED` | this seed alone |
/// | `PERSIST_FIRST_SEED` | the seed to begin with, instead of 1 |
/// | `PERSIST_LAW_SEEDS` | this number of seeds, however long they take |
/// | `PERSIST_LAW_SECONDS` | runs for this time, whatever the number of seeds; at least one is tried |
/// | `PERSIST_LONG_TESTS` | the law's long number of seeds instead of the short one, for five minutes at most |
struct SeedRange {
  private var next: UInt64
  private var left: UInt64
  private let deadline: ContinuousClock.Instant?
  /// The number of seeds; nil if only time ends the law.
  var total: UInt64? { left == .max ? nil : left }

  init(short: UInt64, long: UInt64, environment: [String: String] = ProcessInfo.processInfo.environment) {
    if let only = environment["PERSIST_SEED"].flatMap(UInt64.init) {
      (next, left, deadline) = (only, 1, nil)
      return
    }
    next = environment["PERSIST_FIRST_SEED"].flatMap(UInt64.init) ?? 1
    if let count = environment["PERSIST_LAW_SEEDS"].flatMap(UInt64.init) {
      (left, deadline) = (count, nil)
      return
    }
    let isLong = environment["PERSIST_LONG_TESTS"] != nil
    let seconds = environment["PERSIST_LAW_SECONDS"].flatMap(Double.init).map { Duration.seconds($0) }
    deadline = (seconds ?? (isLong ? LongLoop.limit : nil)).map { ContinuousClock.now + $0 }
    left = seconds != nil ? .max : isLong ? long : short
  }

  /// - Parameter tried: The number of seeds tried so far.
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
