/// What a migration would do, before it does it: a value that can be shown, measured and refused.
///
/// ```swift
/// let plan = try MigrationPlan(from: shop1, to: shop3)
/// print(plan)                       // in words
/// guard plan.losses.isEmpty else { return }
/// ```
public struct MigrationPlan: Sendable, Hashable {
  /// One operation and the SQL that carries it out. SQL that serves several operations stands with the first of them.
  public struct Step: Sendable, Hashable {
    public var operation: MigrationOperation
    public var sql: [String]
    /// What of it is left for later, where the migrator defers work.
    public var deferred: [String]

    public init(_ operation: MigrationOperation, sql: [String] = [], deferred: [String] = []) {
      self.operation = operation
      self.sql = sql
      self.deferred = deferred
    }
  }

  /// The version that the store has.
  public var from: String
  /// The version that it is to have.
  public var to: String
  public var way: MigrationWay
  public var steps: [Step]
  public var losses: [MigrationLoss]
  /// What stands in the way. A plan without blockers can run.
  public var blockers: [MigrationBlocker]
  /// How many rows the store has; nil for a plan that no store was looked at for.
  public var rows: Int?
  /// The size of the store's file with its write-ahead log; nil without a store.
  public var bytes: Int?
  /// The estimated peak of additional disk space in bytes; nil without a store.
  public var extraBytes: Int?
  /// The plan of each hop, in the order in which they run; empty where there is one hop only. Their steps together are
  /// ``steps``.
  public var hops: [MigrationPlan]
  /// Where the models may not mean what they say: versions that only renaming identifiers tell apart, and values that a
  /// migration through the versions between would take from elsewhere.
  public var notes: [String] = []

  public init(
    from: String, to: String, way: MigrationWay, steps: [Step] = [], losses: [MigrationLoss] = [],
    blockers: [MigrationBlocker] = [], rows: Int? = nil, bytes: Int? = nil, extraBytes: Int? = nil,
    hops: [MigrationPlan] = []
  ) {
    self.from = from
    self.to = to
    self.way = way
    self.steps = steps
    self.losses = losses
    self.blockers = blockers
    self.rows = rows
    self.bytes = bytes
    self.extraBytes = extraBytes
    self.hops = hops
  }

  public var isPossible: Bool { way != .impossible }

  /// What stands in the way, as one error; nil where nothing does.
  public var error: PersistenceError? {
    guard way == .impossible else { return nil }
    let problems = blockers.map(\.error)
    guard let first = problems.first else {
      return PersistenceError(.mappingNotInferable, "'\(from)' can't be migrated to '\(to)'.")
    }
    return PersistenceError.combining(
      problems, as: first.code,
      "\(problems.count) things stand in the way from '\(from)' to '\(to)'. The store is as it was.")
  }
}

extension MigrationLoss {
  /// The element of a composite attribute that an operation removes; nil for other operations.
  init?(_ operation: MigrationOperation) {
    guard operation.losesData, operation.kind == .changeElements else { return nil }
    let what = "element \(operation.detail ?? "removed")"
    self.init(entity: operation.entity, property: operation.property, what: what)
  }
}
