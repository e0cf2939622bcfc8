import Foundation

/// The number of steps of a law with each seed, if it has steps.
///
/// `PERSIST_LAW_STEPS` sets it:
///
/// ```sh
/// PERSIST_LAW_SEEDS=100 PERSIST_LAW_STEPS=600 swift test --filter PlainGraphTests
/// ```
public enum LawSteps {
  /// - Parameters:
  ///   - short: The number of steps in a plain run.
  ///   - long: The number of steps in a run with `PERSIST_LONG_TESTS`.
  public static func count(short: Int, long: Int) -> Int {
    ProcessInfo.processInfo.environment["PERSIST_LAW_STEPS"].flatMap(Int.init) ?? (TestLength.isLong ? long : short)
  }
}
