/// What a migration in place does and what must be counted before: data, which the planner makes from the two layouts.
struct InPlaceWork: Sendable {
  /// The order of the work. Nothing of a later phase is needed by an earlier one.
  enum Phase: Int, Sendable, CaseIterable, Comparable {
    /// Pairs are put aside, by the old names.
    case setAside
    /// Keys of rows that go are forgotten, by the old names.
    case sever
    case dropIndexes
    case dropTables
    case rename
    /// New tables, and rows that move into them.
    case create
    /// Rows go that belong to no table any more, or to another.
    case deleteRows
    /// Tables get the columns that they shall have, and their values.
    case reshape
    case renumber
    /// Pairs that were put aside find their places, by the new entity numbers.
    case link
    case complete
    case createIndexes
    case entities
    case cleanUp

    static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
  }

  struct Change: Sendable, Hashable {
    let change: SchemaChange
    let phase: Phase
    /// Whose sake the change is for; nil for what follows from several.
    let subject: Subject?
  }

  /// An entity or property of the new model, or one of the old model that goes.
  struct Subject: Sendable, Hashable {
    let entity: String
    let property: String?

    init(_ entity: String, _ property: String? = nil) {
      self.entity = entity
      self.property = property
    }
  }

  /// A count, and what it means if it isn't zero.
  struct Check: Sendable, Hashable {
    enum Meaning: Sendable, Hashable {
      /// Words that the count follows.
      case blocker(MigrationBlocker)
      case loss(MigrationLoss)
    }

    let count: RowCount
    let meaning: Meaning
  }

  private var phases: [Phase: [Change]] = [:]
  private(set) var checks: [Check] = []
  /// What can wait until after the migration; not among ``changes``.
  private(set) var deferred: [Change] = []
  /// Where the names of files stand that no row will name afterwards.
  var forgotten: [ForgottenValues] = []
  /// What can't be done in place whatever the rows are.
  var blockers: [MigrationBlocker] = []

  mutating func add(_ change: SchemaChange, in phase: Phase, for subject: Subject? = nil) {
    let change = Change(change: change, phase: phase, subject: subject)
    guard phases[phase]?.contains(change) != true else { return }
    phases[phase, default: []].append(change)
  }

  mutating func `defer`(_ change: SchemaChange, for subject: Subject? = nil) {
    deferred.append(Change(change: change, phase: .cleanUp, subject: subject))
  }

  mutating func require(_ count: RowCount, else blocker: MigrationBlocker) {
    let check = Check(count: count, meaning: .blocker(blocker))
    if !checks.contains(check) { checks.append(check) }
  }

  mutating func lose(_ count: RowCount, _ loss: MigrationLoss) {
    let check = Check(count: count, meaning: .loss(loss))
    if !checks.contains(check) { checks.append(check) }
  }

  /// The possible losses, without figures, each once.
  var losses: [MigrationLoss] {
    var seen = Set<MigrationLoss>()
    return checks.compactMap { check in
      guard case .loss(let loss) = check.meaning, seen.insert(loss).inserted else { return nil }
      return loss
    }
  }

  /// All changes in their order.
  var changes: [Change] { Phase.allCases.flatMap { phases[$0] ?? [] } }
}
