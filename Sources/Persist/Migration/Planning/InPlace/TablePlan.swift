/// The derivation of a root entity's table in the new layout.
struct TablePlan: Sendable {
  /// The source of the table's rows.
  enum Source: Sendable, Equatable {
    /// No old entity becomes one in the hierarchy.
    case new
    /// The old table becomes the new one.
    case becomes(String)
    /// Rows are copied from an old table, which itself becomes another one.
    case copied(from: String)
  }

  let root: Entity
  let name: String
  let source: Source
  /// The old entities whose rows the table receives.
  let moves: [RowMove]
  var columns: [ColumnPlan] = []
  /// The new names of columns that the old table keeps, by their folded old names.
  var renames: [String: String] = Dictionary()
  /// Old columns to drop, by their names after renaming.
  var doomed: [String] = []
  /// Columns of removed attributes that remain, by their names after renaming.
  var parked: [String] = []
  /// Old columns that aren't part of the old model, by their names in the table.
  var kept: [StoreSchema.Column] = []
  /// The renames in an executable order.
  var renameSequence: [RenameSequence.Rename] = []
  /// Whether the table has to be rebuilt.
  var isRebuilt = false

  /// The old table from which the rows come.
  var oldTable: String? {
    switch source {
    case .new: nil
    case .becomes(let table), .copied(let table): table
    }
  }

  /// The columns that the new model has no place for, by their names after renaming.
  var removed: [String] { doomed + parked }

  var sourceNumbers: [Int] { moves.map(\.sourceNumber).sorted() }

  /// Whether the values of a new column come from an old one that isn't carried.
  func reads(_ old: String) -> Bool { columns.contains { $0.parts.values.contains(.column(old)) } }

  func column(named name: String) -> ColumnPlan? {
    columns.first { $0.name.foldedIdentifier == name.foldedIdentifier }
  }

  /// The name of an old column after the table's columns have been renamed.
  func currentName(_ old: String) -> String { renames[old.foldedIdentifier] ?? old }

  /// The name of a column before the table's columns have been renamed.
  func oldName(of column: String) -> String { renames.first { $0.value == column }?.key ?? column }
}

/// The plans of all tables of a new layout, in its order.
struct TablePlans: RandomAccessCollection, Sendable {
  private let plans: [TablePlan]
  private let places: [String: Int]
  /// By folded name of the old table.
  private let placesOfHeirs: [String: Int]

  init(_ plans: [TablePlan] = []) {
    self.plans = plans
    places = Dictionary(plans.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
    placesOfHeirs = Dictionary(
      plans.enumerated().compactMap { place, plan in
        if case .becomes(let table) = plan.source { (table.foldedIdentifier, place) } else { nil }
      }, uniquingKeysWith: { first, _ in first })
  }

  var startIndex: Int { plans.startIndex }
  var endIndex: Int { plans.endIndex }

  subscript(index: Int) -> TablePlan { plans[index] }

  /// The plan of the new layout's table of this name.
  subscript(name: String) -> TablePlan? { places[name].map { plans[$0] } }

  /// The plan of the table that an old one becomes.
  subscript(becoming table: String) -> TablePlan? { placesOfHeirs[table.foldedIdentifier].map { plans[$0] } }
}
