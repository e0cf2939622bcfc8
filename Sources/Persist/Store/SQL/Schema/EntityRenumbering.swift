/// The replacement of entity numbers in a table that isn't the model's.
package struct EntityRenumbering: Sendable, Equatable {
  package let table: String
  /// The columns with entity numbers.
  package let columns: [String]
  /// The stored columns of the table, and the name of its rowid if it has one.
  let all: [String]
  /// The new numbers by the old ones, for those that change.
  package let numbers: [Int: Int]
  /// The rules that can reject the new numbers.
  package let rules: [EntityNumberRule]
  /// Whether the rows are deleted and inserted again: under a constraint over a number, rows that exchange their
  /// numbers would collide while an update runs.
  package let rewritesRows: Bool

  package init(_ table: StoreSchema.Table, columns: [String], indexes: [StoreSchema.Index], numbers: [Int: Int]) {
    self.table = table.name
    self.columns = columns
    self.numbers = numbers
    let clauses = TableClauses(table.sql)
    let unique = indexes.filter { index in
      guard index.table.foldedIdentifier == table.name.foldedIdentifier, let sql = index.sql else { return false }
      return SQLTokens.mentions("unique", in: sql) && columns.contains { SQLTokens.mentions($0, in: sql) }
    }
    rules = (clauses.checks.map { .check($0) } + unique.compactMap { EntityNumberRule(index: $0.sql ?? "") })
      .filter { rule in columns.contains(where: rule.mentions) }
    rewritesRows = !unique.isEmpty || columns.contains(where: clauses.restricts)
    all = (table.rowidName.map { [$0] } ?? []) + table.columns.map(\.name)
  }

  /// The same replacement after the table was renamed.
  private init(_ other: EntityRenumbering, table: String) {
    self.table = table
    (columns, all, numbers) = (other.columns, other.all, other.numbers)
    (rules, rewritesRows) = (other.rules, other.rewritesRows)
  }

  package func renamed(_ table: String) -> EntityRenumbering { EntityRenumbering(self, table: table) }
}

extension StoreSchema.Table {
  /// A name by which the rowid can be read and written, beside or as the primary key; nil if there is none.
  ///
  /// - SeeAlso: <https://sqlite.org/lang_createtable.html#rowid>
  package var rowidName: String? {
    let words = SQLTokens(sql).map { $0.lowercased() }
    guard !zip(words, words.dropFirst()).contains(where: { $0 == "without" && $1 == "rowid" }) else { return nil }
    return ["rowid", "_rowid_", "oid"].first { !hasColumn(named: $0) }
  }
}
