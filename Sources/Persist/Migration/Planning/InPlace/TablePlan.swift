/// How a root entity's table of the new layout comes about.
struct TablePlan: Sendable {
  /// Where its rows are.
  enum Source: Sendable, Hashable {
    /// No old entity becomes one of the hierarchy.
    case new
    /// The old table becomes the new one.
    case becomes(String)
    /// Rows are copied out of an old table, which becomes another one.
    case copied(from: String)
  }

  let root: Entity
  let name: String
  let source: Source
  /// The old entities whose rows the table gets.
  let moves: [RowMove]
  var columns: [ColumnPlan] = []
  /// New names of columns that the old table keeps, by their folded old names.
  var renames: [String: String] = [:]
  /// Old columns that go, by the names that they have after renaming.
  var doomed: [String] = []
  /// Old columns that nothing explains, by the names that they have after renaming.
  var kept: [StoreSchema.Column] = []
  /// Renamings in the order in which they can be carried out.
  var renameSequence: [RenameSequence.Rename] = []
  /// Whether the table has to be written anew.
  var isRebuilt = false

  /// The old table that the rows come from.
  var oldTable: String? {
    switch source {
    case .new: nil
    case .becomes(let table), .copied(let table): table
    }
  }

  var sourceNumbers: [Int] { moves.map(\.sourceNumber).sorted() }

  func column(named name: String) -> ColumnPlan? {
    columns.first { $0.name.foldedIdentifier == name.foldedIdentifier }
  }

  /// The name that an old column has once the table's columns are renamed.
  func currentName(_ old: String) -> String { renames[old.foldedIdentifier] ?? old }
}
