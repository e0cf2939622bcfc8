public import Foundation

/// A request for transactions of the history of stores, or for their deletion.
///
/// ```swift
/// let request = HistoryChangeRequest.fetchHistory(after: token)
/// for transaction in try context.execute(request).transactions {
///   context.mergeChanges(from: transaction.objectIDNotification())
/// }
/// ```
///
/// A fetch request selects and sorts by other properties:
///
/// ```swift
/// let mine = try HistoryTransaction.fetchRequest(where: "author == %@ AND timestamp > %@", "me", yesterday)
/// let request = HistoryChangeRequest.fetchHistory(withFetch: mine)
/// ```
public struct HistoryChangeRequest: Sendable {
  /// The content of a result.
  public enum ResultType: Sendable, Hashable, CaseIterable {
    /// Only whether the request succeeded.
    case statusOnly
    /// The identifiers of the changed objects, each once.
    case objectIDs
    /// The number of transactions, or of changes for a request of changes.
    case count
    /// Transactions without their changes.
    case transactionsOnly
    /// Changes without their transactions.
    case changesOnly
    /// Transactions with their changes: the default.
    case transactionsAndChanges
  }

  /// The position after which transactions are fetched, or before which they are deleted.
  package enum Position: Sendable {
    case start
    case token(HistoryToken)
    case date(Date)
  }

  /// The kind of request.
  package enum Kind: Sendable {
    case fetchAfter(Position)
    case fetchTransactions(FetchRequest<HistoryTransaction>)
    case fetchChanges(FetchRequest<HistoryChange>)
    case deleteBefore(Position)
  }

  package let kind: Kind
  /// The content of the result.
  public var resultType = ResultType.transactionsAndChanges
  /// The identifiers of the stores to which the request applies; nil for all of the coordinator's stores with a
  /// history.
  public var affectedStoreIdentifiers: [String]?

  private init(_ kind: Kind, _ resultType: ResultType = .transactionsAndChanges) {
    self.kind = kind
    self.resultType = resultType
  }

  /// Requests the transactions after a token, oldest first; nil for all.
  ///
  /// A store that the token doesn't contain is read from the beginning. The request fails with
  /// ``PersistenceError/Code/historyTokenExpired`` if transactions after the token were deleted or not recorded, or if
  /// the history is switched off. Requests without a token return what is kept.
  public static func fetchHistory(after token: HistoryToken?) -> HistoryChangeRequest {
    HistoryChangeRequest(.fetchAfter(token.map { .token($0) } ?? .start))
  }

  /// Requests the transactions after a time, oldest first.
  public static func fetchHistory(after date: Date) -> HistoryChangeRequest {
    HistoryChangeRequest(.fetchAfter(.date(date)))
  }

  /// Requests the transactions after another one of the same store, oldest first.
  public static func fetchHistory(after transaction: HistoryTransaction) -> HistoryChangeRequest {
    fetchHistory(after: transaction.token)
  }

  /// Requests the transactions that a fetch request selects, in its order; the default order is oldest first.
  public static func fetchHistory(withFetch request: FetchRequest<HistoryTransaction>) -> HistoryChangeRequest {
    HistoryChangeRequest(.fetchTransactions(request))
  }

  /// Requests the changes that a fetch request selects, in its order; the default order is oldest first.
  ///
  /// With ``ResultType/transactionsAndChanges``, the result contains the transactions with just these changes.
  public static func fetchHistory(withFetch request: FetchRequest<HistoryChange>) -> HistoryChangeRequest {
    HistoryChangeRequest(.fetchChanges(request), .changesOnly)
  }

  /// Requests the deletion of the transactions before the one that a token names; nil deletes none.
  ///
  /// The objects themselves aren't affected.
  public static func deleteHistory(before token: HistoryToken?) -> HistoryChangeRequest {
    HistoryChangeRequest(.deleteBefore(token.map { .token($0) } ?? .start), .statusOnly)
  }

  /// Requests the deletion of the transactions before a time. If the clock was ever set back, an older transaction may
  /// have a later time; it and those after it then remain.
  public static func deleteHistory(before date: Date) -> HistoryChangeRequest {
    HistoryChangeRequest(.deleteBefore(.date(date)), .statusOnly)
  }

  /// Requests the deletion of the transactions before another one of the same store.
  public static func deleteHistory(before transaction: HistoryTransaction) -> HistoryChangeRequest {
    deleteHistory(before: transaction.token)
  }
}

extension HistoryTransaction {
  /// Returns a request for transactions by a predicate over their properties.
  ///
  /// The properties are `transactionNumber`, `token`, `timestamp`, `author`, `contextName`, `bundleID`, `processID`,
  /// `storeID` and `changes`.
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate``.
  public static func fetchRequest(
    where format: String = "TRUEPREDICATE", _ arguments: (any FetchArgument)?...
  ) throws -> FetchRequest<HistoryTransaction> {
    var request = FetchRequest<HistoryTransaction>("Transaction")
    request.predicate = try FetchPredicate(format, arguments: arguments)
    return request
  }
}

extension HistoryChange {
  /// Returns a request for changes by a predicate over their properties.
  ///
  /// The properties are `changeID`, `changeType`, `changedEntity`, `changedObjectID`, `updatedProperties` and
  /// `transaction`. An entity is compared by its name, without subentities.
  ///
  /// - Throws: ``PersistenceError/Code/invalidPredicate``.
  public static func fetchRequest(
    where format: String = "TRUEPREDICATE", _ arguments: (any FetchArgument)?...
  ) throws -> FetchRequest<HistoryChange> {
    var request = FetchRequest<HistoryChange>("Change")
    request.predicate = try FetchPredicate(format, arguments: arguments)
    return request
  }
}
