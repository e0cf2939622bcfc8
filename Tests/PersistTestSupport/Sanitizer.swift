import Foundation
public import Testing

/// The sanitizer that the tests were built with: `address`, `thread` or none. `Scripts/sanitize` sets
/// `PERSIST_SANITIZER`.
public enum Sanitizer {
  static let name = ProcessInfo.processInfo.environment["PERSIST_SANITIZER"].flatMap { $0.isEmpty ? nil : $0 }

  /// The compiler's arguments for linking with a library that was built with the sanitizer.
  static var compilerArguments: [String] { name.map { ["-sanitize=\($0)"] } ?? [] }
}

extension Trait where Self == ConditionTrait {
  /// Skips a test that expects a build without warnings: with a sanitizer, the linker warns of its symbols.
  public static var withoutSanitizedLinking: Self {
    .enabled(if: Sanitizer.name == nil, "The linker warns of the symbols of a sanitizer.")
  }

  /// Skips a test of memory or of stack space: a sanitizer uses several times as much of both.
  public static var withoutSanitizer: Self {
    .enabled(if: Sanitizer.name == nil, "A sanitizer takes several times the memory, and the room on the stack.")
  }
}
