/// How far a run of migrations is.
public struct SQLMigrationProgress: Sendable, Hashable {
  /// How many migrations are done.
  public var completed: Int
  /// How many there are to do.
  public var total: Int
  /// The version that runs; nil at the end.
  public var version: Int64?
  /// The name of the migration that runs.
  public var name: String
  /// How much of that migration's SQL has run, from 0 to 1; code is done or not.
  public var part: Double

  /// From 0 to 1. Never falls.
  public var fraction: Double { total == 0 ? 1 : min(1, (Double(completed) + part) / Double(total)) }
}

/// What a run of migrations did.
public struct SQLMigrationReport: Sendable, Hashable {
  /// The newest version before; nil where there was none.
  public var from: Int64?
  /// The newest version now.
  public var to: Int64?
  /// What ran, in order.
  public var applied: [SQLMigrationStatus.Entry]
  public var duration: Duration
}
