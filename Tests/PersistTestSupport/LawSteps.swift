import Foundation

/// How many steps a law takes with each seed, where it takes any.
///
/// `PERSIST_LAW_STEPS` sets it:
///
/// ```sh
/// PERSIST_LAW_SEEDS=100 PERSIST_LAW_STEPS=600 swift test --filter PlainGraphTests
/// ```
public enum LawSteps {
  /// - Parameters:
  ///   - short: how many steps a plain run takes.
  ///   - long: how many steps a run with `PERSIST_LONG_TESTS` takes.
  public static func count(short: Int, long: Int) -> Int {
    ProcessInfo.processInfo.environment["PERSIST_LAW_STEPS"].flatMap(Int.init) ?? (TestLength.isLong ? long : short)
  }
}
