/// How far a migration is.
public struct MigrationProgress: Sendable, Hashable {
  /// Work that is done, in rows; a change that touches no rows counts as one. Never falls.
  public var completed: Int64
  /// All work, estimated at the start; not zero.
  public var total: Int64
  /// What is done now, as SQL; empty at the end.
  public var current: String

  public init(completed: Int64, total: Int64, current: String) {
    self.completed = completed
    self.total = total
    self.current = current
  }

  /// From 0 to 1.
  public var fraction: Double { min(1, Double(completed) / Double(max(total, 1))) }
}

/// What a migration did.
public struct MigrationReport: Sendable, Hashable {
  public var from: String
  public var to: String
  public var way: MigrationWay
  /// How many versions further the store is.
  public var hops: Int
  /// How many rows the store had; nil where they weren't counted.
  public var rows: Int?
  public var duration: Duration

  public init(from: String, to: String, way: MigrationWay, hops: Int, rows: Int?, duration: Duration) {
    self.from = from
    self.to = to
    self.way = way
    self.hops = hops
    self.rows = rows
    self.duration = duration
  }
}
