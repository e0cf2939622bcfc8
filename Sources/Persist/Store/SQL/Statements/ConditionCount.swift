/// The number of rows, or of pairs of rows, for which a condition is true.
///
/// The condition is a term, not SQL: each engine writes it in its own words, or finds that it can't evaluate it.
package struct ConditionCount {
  /// The tables of the condition's rows.
  package let tables: [SQLRow: String]
  package let condition: SQLTerm
  /// The statement up to the condition.
  package let start: SharedSQL

  /// Counts the rows of a table, which are ``SQLText/RowSelection/root`` in the condition.
  package init(of table: String, where condition: SQLTerm) {
    let row = SQLText.RowSelection.root
    tables = [row: table]
    self.condition = condition
    start = "SELECT COUNT(*) FROM \(name: table) AS \(row: row) WHERE "
  }

  /// Counts the pairs of a relationship, with a condition on both rows.
  package init(
    of pairs: PairSource, owners: (table: String, row: SQLRow), members: (table: String, row: SQLRow),
    where condition: SQLTerm
  ) {
    tables = [owners.row: owners.table, members.row: members.table]
    self.condition = condition
    let joined: SharedSQL = """
      SELECT COUNT(*) FROM (SELECT \(name: pairs.owner) AS owner, \(name: pairs.member) AS member \
      FROM \(name: pairs.table)) AS pairs \
      JOIN \(name: owners.table) AS \(row: owners.row) ON \(row: owners.row).\(.key) = pairs.owner \
      JOIN \(name: members.table) AS \(row: members.row) ON \(row: members.row).\(.key) = pairs.member
      """
    start = "\(joined) WHERE "
  }
}
