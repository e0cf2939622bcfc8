/// Checking the history. Each row has the key of an entry, a null, and two values for the description.
extension SQLText {
  private static let changes: SQLText = "\(name: HistoryLayout.changeTable)"
  private static let transactions: SQLText = "\(name: HistoryLayout.transactionTable)"

  static let changesWithoutTransaction: SQLText = """
    SELECT Z_PK, NULL, ZTRANSACTIONID, NULL FROM \(changes) \
    WHERE NOT EXISTS (SELECT 1 FROM \(transactions) AS t WHERE t.Z_PK = \(changes).ZTRANSACTIONID)
    """

  static let changesOfUnknownEntities: SQLText = """
    SELECT Z_PK, NULL, ZENTITY, ZENTITYPK FROM \(changes) \
    WHERE ZENTITY IS NULL OR ZENTITY NOT IN (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_ENT IS NOT NULL)
    """

  /// Transactions that refer to a missing text.
  static func transactionsWithoutText(_ column: String) -> SQLText {
    """
    SELECT Z_PK, NULL, \(name: column), NULL FROM \(transactions) WHERE \(name: column) IS NOT NULL \
    AND NOT EXISTS (SELECT 1 FROM \(name: HistoryLayout.textTable) AS s WHERE s.Z_PK = \(transactions).\(name: column))
    """
  }
}
