/// The plan of a migration: a value that can be displayed, measured and rejected before anything is done.
///
/// ```swift
/// let plan = try MigrationPlan(from: shop1, to: shop3)
/// print(plan)                       // in words
/// guard plan.losses.isEmpty else { return }
/// ```
public struct MigrationPlan: Sendable, Hashable {
  /// One operation and its SQL. SQL that serves several operations belongs to the first of them.
  public struct Step: Sendable, Hashable {
    /// The difference that the step carries out.
    public var operation: MigrationOperation
    /// The statements to run, in order; empty if the step needs none, or if the plan was created without SQL.
    public var sql: [String]
    /// The part that is deferred, if the migrator defers work.
    public var deferred: [String]

    /// Creates a step that runs some SQL at once and defers the rest.
    init(_ operation: MigrationOperation, sql: [String] = [], deferred: [String] = []) {
      self.operation = operation
      self.sql = sql
      self.deferred = deferred
    }
  }

  /// The store's version.
  public var from: String
  /// The target version.
  public var to: String
  /// The way of the whole migration: that of its most demanding step.
  public var way: MigrationWay
  /// The steps of all hops, in the order of execution.
  public var steps: [Step]
  /// The values that the new model has no place for; empty if every value is kept. Without a store, without numbers of
  /// rows. They are lost unless they are ``parked``.
  public var losses: [MigrationLoss]
  /// The obstacles. A plan without blockers can run.
  public var blockers: [MigrationBlocker]
  /// The number of rows in the store; nil for a plan without a store.
  public var rows: Int?
  /// The size of the store's file with its write-ahead log; nil without a store.
  public var bytes: Int?
  /// The estimated peak of additional disk space in bytes; nil without a store.
  public var extraBytes: Int?
  /// The plans of the hops, in the order of execution; empty if there is only one hop. Their steps together are
  /// ``steps``.
  public var hops: [MigrationPlan]
  /// Cases in which the models may not mean what they say: versions that differ only in renaming identifiers, and
  /// values that would have another source in a migration through the versions in between.
  public var notes: [String] = []
  /// The values, objects and pairs that are parked in the store instead of being lost, with numbers of rows or pairs:
  /// see ``AutomaticMigrator/parking``.
  public var parked: [MigrationLoss] = []
  /// The values that the new version's types can't read. They stay in the store and read as defaults; a migrator that
  /// refuses loss refuses them.
  ///
  /// Empty if mapping models or stages compute new values, because the types can only be tried on these.
  public var unreadable: [UnreadableValues] = []
  /// The values that earlier migrations parked and this one restores.
  public var restored: [MigrationLoss] = []

  /// Creates a plan from its parts. Plans are usually made by comparing models, or a store with a model.
  init(
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

  /// Whether the migration can run: ``way`` isn't ``MigrationWay/impossible``.
  public var isPossible: Bool { way != .impossible }

  /// The obstacles as one error; nil if there are none.
  public var error: PersistenceError? {
    guard way == .impossible else { return nil }
    let problems = blockers.map(\.error)
    guard let first = problems.first else {
      return PersistenceError(.mappingNotInferable, "'\(from)' can't be migrated to '\(to)'.")
    }
    return PersistenceError.combining(
      problems, as: first.code,
      "\(problems.count) problems prevent the migration from '\(from)' to '\(to)'. The store is unchanged.")
  }
}

extension MigrationLoss {
  /// Creates the loss of a composite attribute's element that an operation removes; nil for other operations.
  init?(_ operation: MigrationOperation) {
    guard operation.losesData, operation.kind == .changeElements else { return nil }
    let what = "element \(operation.detail ?? "removed")"
    self.init(entity: operation.entity, property: operation.property, what: what)
  }
}
