import Persist

/// The progress of a run of migrations.
public struct SQLMigrationProgress: Sendable, Hashable {
  /// The number of completed migrations.
  public var completed: Int
  /// The total number of migrations to run.
  public var total: Int
  /// The running version; nil at the end.
  public var version: Int64?
  /// The name of the running migration.
  public var name: String
  /// The completed part of the running migration's SQL, from 0 to 1; always 0 for code.
  public var part: Double

  /// The completed fraction, from 0 to 1. Never decreases.
  public var fraction: Double { total == 0 ? 1 : min(1, (Double(completed) + part) / Double(total)) }
}

/// The result of a run of migrations.
public struct SQLMigrationReport: Sendable, Hashable {
  /// The newest version before the run; nil if there was none.
  public var from: Int64?
  /// The newest version after the run.
  public var to: Int64?
  /// The migrations that ran, in order.
  public var applied: [SQLMigrationStatus.Entry]
  /// The migrations that were reverted, the newest first.
  public var reverted: [SQLMigrationStatus.Entry]
  /// The time that the run took, including waits for other processes.
  public var duration: Duration
}
