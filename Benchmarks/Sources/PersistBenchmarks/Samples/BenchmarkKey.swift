import Foundation
import Persist

/// The key with which all contestants encrypt their files, if they do.
///
/// `Scripts/benchmark --key` sets it, and runs the program with SQLCipher's library in the place of SQLite's.
enum BenchmarkKey {
  /// The 64 digits of a raw key; nil for plain files.
  private static let digits: String? = {
    guard let digits = ProcessInfo.processInfo.environment["PERSIST_BENCHMARK_KEY"], !digits.isEmpty else { return nil }
    return digits
  }()

  static var isUsed: Bool { digits != nil }

  /// The first statements on a connection that is used by hand.
  static var pragmas: [String] { digits.map { ["PRAGMA key = \"x'\($0)'\"", "PRAGMA temp_store = MEMORY"] } ?? [] }

  /// The end of a statement that attaches another file.
  static var attachment: String { digits.map { " KEY \"x'\($0)'\"" } ?? "" }

  /// Options with the key.
  static func options(_ options: StoreOptions = StoreOptions()) -> StoreOptions {
    guard let digits else { return options }
    var options = options
    options.key = { .passphrase("x'\(digits)'") }
    return options
  }
}
