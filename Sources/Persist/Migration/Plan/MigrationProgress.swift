/// The progress of a migration.
///
/// The completed fraction follows time: rows, entries of indexes, objects and pages to write are weighed by measured
/// costs. It never decreases, and reaches 1 at the end.
public struct MigrationProgress: Sendable, Hashable {
  /// Receives the progress; returns false to cancel.
  typealias Handler = @Sendable (MigrationProgress) -> Bool

  /// A part of a migration, from one model version to another.
  public struct Hop: Sendable, Hashable {
    /// The number, starting from 1. Several hops executed as one have the number of the last.
    public var number: Int
    /// The number of hops in the migration.
    public var count: Int
    /// The source and destination versions.
    public var from: String
    /// The destination version's name; empty if it is unknown.
    public var to: String

    /// Creates a hop; by default the only one of a migration.
    init(number: Int = 1, count: Int = 1, from: String = "", to: String = "") {
      self.number = number
      self.count = count
      self.from = from
      self.to = to
    }
  }

  /// A part of the work. A struct, not an enumeration, so that adding passes doesn't break programs.
  public struct Pass: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The store's own tables are changed in one transaction.
    public static let inPlace = Self(rawValue: "inPlace")
    /// A stage's custom code runs.
    public static let stage = Self(rawValue: "stage")
    /// A mapping model creates objects with their attributes in the new file.
    public static let objects = Self(rawValue: "objects")
    /// A mapping model sets the objects' relationships.
    public static let relationships = Self(rawValue: "relationships")
    /// The result is validated.
    public static let validation = Self(rawValue: "validation")
    /// The new file replaces the store's content.
    public static let exchange = Self(rawValue: "exchange")
    /// The store has the new version.
    public static let done = Self(rawValue: "done")
  }

  /// The hop that is running.
  public var hop: Hop
  /// The part of the work that is running.
  public var pass: Pass
  /// The entity whose rows are processed, if it is only one.
  public var entity: String?
  /// Completed work, in units that take about the same time each. Never decreases.
  public var completed: Int64
  /// The total work, estimated at the start; not zero.
  public var total: Int64
  /// The current work, as SQL or the name of an entity mapping; empty at the end.
  public var current: String
  /// The remaining time at the current pace; nil while no estimate is possible.
  public var timeLeft: Duration?

  /// Creates a progress value, for example to test a display of progress.
  @inline(never)
  init(
    completed: Int64, total: Int64, current: String, hop: Hop = Hop(), pass: Pass = .inPlace, entity: String? = nil,
    timeLeft: Duration? = nil
  ) {
    self.hop = hop
    self.pass = pass
    self.entity = entity
    self.completed = completed
    self.total = total
    self.current = current
    self.timeLeft = timeLeft
  }

  /// The completed fraction, from 0 to 1.
  public var fraction: Double { min(1, Double(completed) / Double(max(total, 1))) }
}

/// The result of a migration.
public struct MigrationReport: Sendable, Hashable {
  /// The name of the version that the store had.
  public var from: String
  /// The name of the version that the store has now.
  public var to: String
  /// The way in which the store was migrated; ``MigrationWay/none`` if there was nothing to do.
  public var way: MigrationWay
  /// The number of hops.
  public var hops: Int
  /// The number of rows in the store; nil if they weren't counted.
  public var rows: Int?
  /// The time that the migration took, without deferred work.
  public var duration: Duration
  /// The comparison of both ways that preceded the commit; nil if none was requested, or there is only one way.
  public var proof: MigrationProof?
  /// The number of values, objects and pairs that were parked, because the new version has no place for them.
  public var parked = 0
  /// The parked values, with numbers.
  public var parkedContents: [MigrationLoss] = []
  /// The parked properties and entities that look as if they had been renamed without a declaration.
  public var renameHints: [RenameHint] = []
  /// The number of values, objects and pairs that an earlier migration had parked and that this one restored.
  public var restored = 0

  /// Creates a report from its parts.
  init(from: String, to: String, way: MigrationWay, hops: Int, rows: Int?, duration: Duration) {
    self.from = from
    self.to = to
    self.way = way
    self.hops = hops
    self.rows = rows
    self.duration = duration
  }
}
