/// How far a migration is.
///
/// Whichever way it goes, what is done is counted in rows, never falls, and reaches the total at the end.
public struct MigrationProgress: Sendable, Hashable {
  /// A step from one model version to another.
  public struct Hop: Sendable, Hashable {
    /// From 1. Several hops that are done as one have the number of the last.
    public var number: Int
    /// How many hops the migration has.
    public var count: Int
    /// The versions that it leads from and to.
    public var from: String
    public var to: String

    public init(number: Int = 1, count: Int = 1, from: String = "", to: String = "") {
      self.number = number
      self.count = count
      self.from = from
      self.to = to
    }
  }

  /// A part of the work. A struct, not an enumeration, so that new ones can come without breaking a program.
  public struct Pass: RawRepresentable, Sendable, Hashable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The store's own tables are changed, in one transaction.
    public static let inPlace = Self(rawValue: "inPlace")
    /// A stage's work in code.
    public static let stage = Self(rawValue: "stage")
    /// Of a mapping model: objects with their attributes come into the new file.
    public static let objects = Self(rawValue: "objects")
    /// Of a mapping model: they are related.
    public static let relationships = Self(rawValue: "relationships")
    /// The whole is validated.
    public static let validation = Self(rawValue: "validation")
    /// The new file takes the store's place.
    public static let exchange = Self(rawValue: "exchange")
    /// The store has the new version.
    public static let done = Self(rawValue: "done")
  }

  public var hop: Hop
  public var pass: Pass
  /// The entity whose rows are worked on, where it is one.
  public var entity: String?
  /// Work that is done, in rows; a change that touches no rows counts as one. Never falls.
  public var completed: Int64
  /// All work, estimated at the start; not zero.
  public var total: Int64
  /// What is done now, as SQL or by the name of an entity mapping; empty at the end.
  public var current: String
  /// The time that is left at the pace so far; nil as long as that says nothing.
  public var timeLeft: Duration?

  public init(
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
