/// Access to a transaction's properties by key, for predicates and sort descriptors.
extension HistoryTransaction: KeyedObject {
  /// The value of a property: `transactionNumber`, `token`, `timestamp`, `author`, `contextName`, `bundleID`,
  /// `processID`, `storeID`, `changes`.
  ///
  /// - Throws: ``PersistenceError/Code/unknownProperty``.
  public func fetchValue(forKey key: String) throws -> FetchValue {
    func text(_ text: String?) -> FetchValue { text.map { .value(.string($0)) } ?? .null }
    switch key {
    case "transactionNumber", "token": return .value(.integer(transactionNumber))
    case "timestamp": return .value(.date(timestamp))
    case "author": return text(author)
    case "contextName": return text(contextName)
    case "bundleID": return text(bundleID)
    case "processID": return text(processID)
    case "storeID": return text(storeID)
    case "changes":
      return .collection((changes ?? []).map { .object(KeyedHistoryChange(change: $0, transaction: self)) })
    default:
      throw PersistenceError(
        .unknownProperty, at: .property("Transaction", key), "A history transaction has no property '\(key)'.",
        fix: "Use transactionNumber, token, timestamp, author, contextName, bundleID, processID, storeID or changes.")
    }
  }

  /// The number, which is unique in the store.
  public var fetchIdentity: StoredValue { .integer(transactionNumber) }
  /// `Transaction`.
  public var fetchEntityName: String? { "Transaction" }
}

/// A change with its transaction, for predicates and sort descriptors over changes.
package struct KeyedHistoryChange: KeyedObject {
  package let change: HistoryChange
  package let transaction: HistoryTransaction

  package init(change: HistoryChange, transaction: HistoryTransaction) {
    self.change = change
    self.transaction = transaction
  }

  package func fetchValue(forKey key: String) throws -> FetchValue {
    switch key {
    case "changeID": return .value(.integer(change.changeID))
    case "changeType": return .value(.integer(Int64(change.changeType.rawValue)))
    case "changedObjectID": return .value(.objectID(change.changedObjectID))
    case "changedEntity": return .object(NamedEntity(name: change.changedObjectID.entityName))
    case "updatedProperties":
      return change.updatedProperties.map { .collection($0.sorted().map { .value(.string($0)) }) } ?? .null
    case "transaction": return .object(transaction)
    default:
      throw PersistenceError(
        .unknownProperty, at: .property("Change", key), "A history change has no property '\(key)'.",
        fix: "Use changeID, changeType, changedEntity, changedObjectID, updatedProperties or transaction.")
    }
  }

  package var fetchIdentity: StoredValue { .integer(change.changeID) }
  package var fetchEntityName: String? { "Change" }
}

extension HistoryChangeType: FetchArgument {
  /// The raw value, for predicates over `changeType`.
  public var fetchExpression: FetchExpression { .constant(.integer(Int64(rawValue))) }
}

extension HistoryToken: FetchArgument {
  /// The number of the transaction that the token names, for predicates over `token`.
  ///
  /// A token of several stores has none and equals no transaction. A request whose predicate compares the transactions'
  /// `token` with one of another life of the store fails with ``PersistenceError/Code/historyTokenExpired``.
  public var fetchExpression: FetchExpression {
    guard transactionNumbers.count == 1, let number = transactionNumbers.values.first else {
      return .constant(.string(description))
    }
    guard !marks.isEmpty else { return .constant(.integer(number)) }
    // The value is the number; the description beside it tells the store which life it belongs to.
    return .element(of: .aggregate([.constant(.integer(number)), .constant(.string(description))]), .first)
  }
}
