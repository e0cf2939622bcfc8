/// The changes and the preceding checks of a migration in place: data that the planner derives from the two layouts.
package struct InPlaceWork: Sendable {
  /// The phases of the work, in order. No phase depends on a later one.
  enum Phase: Int, Sendable, CaseIterable, Comparable {
    /// Pairs are set aside, under their old names.
    case setAside
    /// Keys of rows that are removed are cleared, under their old names.
    case sever
    case dropIndexes
    case dropTables
    case rename
    /// Creating tables, and copying rows into them.
    case create
    /// Deleting rows that no longer belong to a table, or belong to another one.
    case deleteRows
    /// Giving tables their final columns and values.
    case reshape
    case renumber
    /// Storing the pairs set aside in their final places, using the new entity numbers.
    case link
    case complete
    case createIndexes
    case entities
    case cleanUp

    static func < (left: Phase, right: Phase) -> Bool { left.rawValue < right.rawValue }
  }

  package struct Change: Sendable, Equatable {
    package let change: SchemaChange
    let phase: Phase
    /// The subject for which the change is made; nil if there are several.
    package let subject: Subject?
  }

  /// An entity or property of the new model, or one of the old model that is removed.
  package struct Subject: Sendable, Hashable {
    package let entity: String
    package let property: String?

    init(_ entity: String, _ property: String? = nil) {
      self.entity = entity
      self.property = property
    }
  }

  /// A column of a removed attribute that remains in its table under another name.
  struct KeptColumn: Sendable, Equatable {
    /// The names before the migration.
    let table: String
    let column: String
    /// The names afterward.
    let newTable: String
    let newColumn: String
  }

  /// A count, and its meaning if it isn't zero.
  struct Check: Sendable, Equatable {
    enum Meaning: Sendable, Equatable {
      /// A blocker; the count is appended to its description.
      case blocker(MigrationBlocker)
      case loss(MigrationLoss)
    }

    let count: RowCount
    let meaning: Meaning
  }

  /// The rules of the names in the new layout.
  var names = LayoutNames.coreData
  /// The changes of each phase.
  private var phases: [[Change]] = Array(repeating: [], count: Phase.allCases.count)
  private(set) var checks: [Check] = []
  /// Changes that can wait until after the migration; ``changes`` doesn't include them.
  private(set) var deferred: [Change] = []
  /// Updates that are made in parts after the migration, while programs use the store; not among ``changes``.
  private(set) var laterUpdates: [Change] = []
  /// The tables whose values could be updated like that, by their new names, with their present names.
  var convertibleTables: [String: String] = Dictionary()
  /// The columns and rows with names of files to which no row will refer afterward.
  package var forgotten: [RemovedFileValues] = []
  /// The required relationships, each with its exact entity, some of whose values are parked pairs.
  var parkedReferences: Set<Subject> = []
  /// The columns of removed attributes that remain under other names.
  var keptColumns: [KeptColumn] = []
  /// Obstacles to a migration in place that don't depend on the rows.
  package var blockers: [MigrationBlocker] = []

  @inline(never)
  mutating func add(_ change: SchemaChange, in phase: Phase, for subject: Subject? = nil) {
    let change = Change(change: change, phase: phase, subject: subject)
    guard !phases[phase.rawValue].contains(change) else { return }
    phases[phase.rawValue].append(change)
  }

  mutating func `defer`(_ change: SchemaChange, for subject: Subject? = nil) {
    deferred.append(Change(change: change, phase: .cleanUp, subject: subject))
  }

  mutating func updateLater(_ change: SchemaChange, for subject: Subject?) {
    laterUpdates.append(Change(change: change, phase: .renumber, subject: subject))
  }

  /// The conversions of rows that begin at the end of the migration.
  package var conversions: [RowConversion] {
    laterUpdates.compactMap { update in
      guard case .update(let table, let values, let rows) = update.change else { return nil }
      return RowConversion(table: table, values: values, rows: rows)
    }
  }

  @inline(never)
  mutating func require(_ count: RowCount, else blocker: MigrationBlocker) {
    let check = Check(count: count, meaning: .blocker(blocker))
    if !checks.contains(check) { checks.append(check) }
  }

  mutating func addLoss(_ count: RowCount, _ loss: MigrationLoss) {
    let check = Check(count: count, meaning: .loss(loss))
    if !checks.contains(check) { checks.append(check) }
  }

  /// The possible losses, without numbers or duplicates.
  var losses: [MigrationLoss] {
    var seen = Set<MigrationLoss>()
    return checks.compactMap { check in
      guard case .loss(let loss) = check.meaning, seen.insert(loss).inserted else { return nil }
      return loss
    }
  }

  /// All changes in order.
  package var changes: [Change] { phases.flatMap { $0 } }

  /// The work with other changes in the place of each.
  func editing(_ edit: (SchemaChange) -> [SchemaChange]) -> InPlaceWork {
    var work = self
    work.phases = phases.map { phase in
      phase.flatMap { old in
        edit(old.change).map { Change(change: $0, phase: old.phase, subject: old.subject) }
      }
    }
    return work
  }
}

extension InPlaceWork {
  /// The size of the write-ahead log or journal: the written share of the file, and twice that for tables that are
  /// rebuilt, whose old pages remain until the end.
  ///
  /// - Parameters:
  ///   - size: The size of the store.
  ///   - map: The tables of the store.
  func extraSpace(
    ofSize size: Int, in map: TableMap, schema: StoreSchema, inspector: any StoreInspector
  ) throws -> Int {
    var weights: [String: Int] = Dictionary()
    for change in changes {
      guard let table = change.change.writtenTable, schema.hasTable(named: table) else { continue }
      var weight = 1
      if case .rebuildTable = change.change { weight = 2 }
      weights[table] = max(weights[table] ?? 0, weight)
    }
    guard !weights.isEmpty else { return ExtraSpace.base }
    func rows(_ table: String) throws -> Int {
      schema.hasTable(named: table) ? try Int(clamping: inspector.approximateRowCount(of: table)) : 0
    }
    let tables = Set(map.tables.map(\.table) + map.joinTables.map(\.name)).union(weights.keys)
    let all = try tables.reduce(0) { try $0 + rows($1) }
    let written = try weights.reduce(0) { try $0 + rows($1.key) * $1.value }
    return ExtraSpace.base + Int(Double(size) * Double(written) / Double(max(all, 1)))
  }
}
