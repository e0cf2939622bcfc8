/// Counts of rows and pairs that a mapping omits.
extension SQLText {
  /// The number of rows of a table for which a condition is true; they are ``RowSelection/root`` in it.
  static func countRows(of table: String, where condition: SQLTerm) -> SQLText {
    "SELECT COUNT(*) FROM \(name: table) AS \(row: RowSelection.root) WHERE \(term(condition))"
  }

  /// The number of pairs of a relationship for which a condition on both rows is true.
  static func countPairs(
    _ pairs: PairSource, owners: (table: String, row: SQLRow), members: (table: String, row: SQLRow),
    where condition: SQLTerm
  ) -> SQLText {
    """
    SELECT COUNT(*) FROM (SELECT \(name: pairs.owner) AS owner, \(name: pairs.member) AS member \
    FROM \(name: pairs.table)) AS pairs \
    JOIN \(name: owners.table) AS \(row: owners.row) ON \(row: owners.row).Z_PK = pairs.owner \
    JOIN \(name: members.table) AS \(row: members.row) ON \(row: members.row).Z_PK = pairs.member \
    WHERE \(term(condition))
    """
  }
}
