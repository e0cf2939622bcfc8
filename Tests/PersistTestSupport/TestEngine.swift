import Foundation
public import Testing

/// The engine of the stores that tests make with ``withTemporaryStore(_:)``.
public enum TestEngine: Sendable {
  case sqlite, postgreSQL

  /// `Scripts/test --engine postgresql` chooses the server.
  public static let current: TestEngine =
    ProcessInfo.processInfo.environment["PERSIST_TEST_ENGINE"] == "postgresql" ? .postgreSQL : .sqlite
}

extension Trait where Self == ConditionTrait {
  /// Runs a test only with stores in files: it is about something that a server doesn't have, or has in another form.
  ///
  /// A test that fails on a server isn't about files for that reason.
  ///
  /// - Parameter subject: What the test is about, such as "the journal".
  public static func aboutFiles(_ subject: String) -> Self {
    .enabled(if: TestEngine.current == .sqlite, "About files: \(subject)")
  }
}
