/// The result of a ``HistoryChangeRequest``.
public struct HistoryResult: Sendable, Hashable {
  /// The requested content.
  public let resultType: HistoryChangeRequest.ResultType
  /// The transactions; empty unless the result type contains them.
  public let transactions: [HistoryTransaction]
  /// The changes; for transactions with changes, those of all transactions in order.
  public let changes: [HistoryChange]
  /// The number of fetched or deleted transactions, or of fetched changes.
  public let count: Int

  package init(
    resultType: HistoryChangeRequest.ResultType, transactions: [HistoryTransaction], changes: [HistoryChange],
    count: Int
  ) {
    self.resultType = resultType
    self.transactions = transactions
    self.changes = changes
    self.count = count
  }

  /// The identifiers of the changed objects, each once, in the order of their first change.
  public var objectIDs: [ManagedObjectID] {
    var seen: Set<ManagedObjectID> = []
    return changes.map(\.changedObjectID).filter { seen.insert($0).inserted }
  }

  /// The result in Core Data's form: true, a number, or an array of identifiers, transactions or changes.
  public var result: Any? {
    switch resultType {
    case .statusOnly: true
    case .objectIDs: objectIDs
    case .count: count
    case .transactionsOnly, .transactionsAndChanges: transactions
    case .changesOnly: changes
    }
  }
}

extension HistoryResult {
  /// The result of a deletion.
  package init(deleting count: Int, _ resultType: HistoryChangeRequest.ResultType) {
    self.init(resultType: resultType, transactions: [], changes: [], count: count)
  }

  /// The result of a request for transactions.
  package init(_ transactions: [HistoryTransaction], _ resultType: HistoryChangeRequest.ResultType) {
    let hasTransactions = [.transactionsOnly, .transactionsAndChanges].contains(resultType)
    let hasChanges = [.changesOnly, .objectIDs, .transactionsAndChanges].contains(resultType)
    self.init(
      resultType: resultType, transactions: hasTransactions ? transactions : [],
      changes: hasChanges ? transactions.flatMap { $0.changes ?? [] } : [], count: transactions.count)
  }
}
