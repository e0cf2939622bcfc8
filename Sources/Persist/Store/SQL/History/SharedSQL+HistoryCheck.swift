/// Checking the history. Each row has the key of an entry, a null, and two values for the description.
extension SharedSQL {
  private static let changes: SharedSQL = "\(name: HistoryLayout.changeTable)"
  private static let transactions: SharedSQL = "\(name: HistoryLayout.transactionTable)"

  static let changesWithoutTransaction: SharedSQL = """
    SELECT \(.key), NULL, \(.transactionID), NULL FROM \(changes) \
    WHERE NOT EXISTS (SELECT 1 FROM \(transactions) AS t WHERE t.\(.key) = \(changes).\(.transactionID))
    """

  /// - Parameter numbers: The numbers of the model's entities, whose own rows may be missing.
  static func changesOfUnknownEntities(_ numbers: [Int]) -> SharedSQL {
    """
    SELECT \(.key), NULL, \(.changedEntity), \(.changedKey) FROM \(changes) \
    WHERE \(.changedEntity) IS NULL OR \(isUnknown("\(.changedEntity)", numbers))
    """
  }

  static func isUnknown(_ entity: SharedSQL, _ numbers: [Int]) -> SharedSQL {
    """
    \(entity) NOT IN (SELECT \(.entity) FROM \(.entities) WHERE \(.entity) IS NOT NULL) \
    AND \(entity) NOT IN (\(numbers: numbers))
    """
  }

  /// Transactions that refer to a missing text.
  static func transactionsWithoutText(_ column: String) -> SharedSQL {
    """
    SELECT \(.key), NULL, \(name: column), NULL FROM \(transactions) WHERE \(name: column) IS NOT NULL \
    AND NOT EXISTS \
    (SELECT 1 FROM \(name: HistoryLayout.textTable) AS s WHERE s.\(.key) = \(transactions).\(name: column))
    """
  }
}
