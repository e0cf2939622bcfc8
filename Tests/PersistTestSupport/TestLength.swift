import Foundation

/// Whether loops run at their full length, which takes minutes, or in a short form.
///
/// ```sh
/// PERSIST_LONG_TESTS=1 swift test --filter Bounds
/// ```
public enum TestLength {
  public static let isLong = ProcessInfo.processInfo.environment["PERSIST_LONG_TESTS"] != nil
}
