/// Checking the history. Each row has the key of an entry, a null, and two values for the description.
extension SQLText {
  private static let changes: SQLText = "\(name: HistoryLayout.changeTable)"
  private static let transactions: SQLText = "\(name: HistoryLayout.transactionTable)"

  static let changesWithoutTransaction: SQLText = """
    SELECT Z_PK, NULL, ZTRANSACTIONID, NULL FROM \(changes) \
    WHERE NOT EXISTS (SELECT 1 FROM \(transactions) AS t WHERE t.Z_PK = \(changes).ZTRANSACTIONID)
    """

  ///
  /// - Parameter numbers: The numbers of the model's entities, whose own rows may be missing.
  static func changesOfUnknownEntities(_ numbers: [Int]) -> SQLText {
    """
    SELECT Z_PK, NULL, ZENTITY, ZENTITYPK FROM \(changes) WHERE ZENTITY IS NULL OR \(isUnknown("ZENTITY", numbers))
    """
  }

  static func isUnknown(_ entity: SQLText, _ numbers: [Int]) -> SQLText {
    """
    \(entity) NOT IN (SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_ENT IS NOT NULL) AND \(entity) NOT IN (\(numbers: numbers))
    """
  }

  /// Transactions that refer to a missing text.
  static func transactionsWithoutText(_ column: String) -> SQLText {
    """
    SELECT Z_PK, NULL, \(name: column), NULL FROM \(transactions) WHERE \(name: column) IS NOT NULL \
    AND NOT EXISTS (SELECT 1 FROM \(name: HistoryLayout.textTable) AS s WHERE s.Z_PK = \(transactions).\(name: column))
    """
  }
}
