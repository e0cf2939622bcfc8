package import Foundation

/// A connection to a store in whose transaction the history is read and changed.
package protocol HistoryConnection: StatementRunner {
  func storeSchema() throws -> StoreSchema
  func storeMetadata() throws -> StoreMetadata
  func replace(_ metadata: StoreMetadata) throws
  func create(_ table: TableDefinition) throws
  func create(_ index: IndexDefinition) throws
  /// The greatest numbers assigned to changes and to transactions.
  func lastHistoryNumbers() throws -> (change: Int64, transaction: Int64)
  /// Sets the greatest number assigned to changes, transactions or texts.
  ///
  /// - Parameter entity: One of the numbers of ``HistoryLayout/EntityNumber``.
  func setLastNumber(_ number: Int64, ofEntity entity: Int) throws
  /// The form in which this store keeps a value of a deleted object.
  func kept(_ value: SQLValue) -> SQLValue
  /// Prepares the store's tables so that transactions keep old values, or don't any longer.
  ///
  /// The caller holds the transaction.
  ///
  /// - Parameter map: The layout of the tables; nil if transactions don't keep old values any longer.
  func keepOldValues(of map: TableMap?) throws
  /// Adds a transaction without changes, whose author names a migration.
  func recordTransaction(by author: String, in history: HistoryMap) throws
  /// Reads the values of attached entries, whose table exists.
  ///
  /// - Parameter keys: Their keys, in ascending order.
  func attachedValues(of keys: ByteList) throws -> AttachedValues
  /// Writes attached entries, whose table exists.
  func setAttached(_ list: AttachedList) throws
}

extension HistoryConnection {
  /// The next number of a transaction, a change or a text, after the last one.
  ///
  /// - Throws: ``PersistenceError/Code/storeDamaged`` if too few numbers remain for the changes of a transaction, which
  ///   only happens after something else has changed the counters.
  package static func historyNumber(after last: Int64, in url: URL?) throws -> Int64 {
    guard last < greatestHistoryNumber else { throw damagedHistory(url, "Its numbers are used up.") }
    return last + 1
  }

  /// The limit of assigned numbers: enough numbers remain above it for the changes of any transaction.
  package static var greatestHistoryNumber: Int64 { .max - 1 << 40 }

  package static func damagedHistory(_ url: URL?, _ what: String) -> PersistenceError {
    PersistenceError(
      .storeDamaged, at: .store(url), "The history of the store is damaged. \(what)",
      fix: "Delete the history with disableHistory, or restore the store from a backup.")
  }
}

/// A store that records its history in tables of its own.
package protocol HistorySource: Sendable {
  associatedtype Connection: HistoryConnection

  var identifier: String { get }
  var url: URL? { get }
  var map: TableMap { get }
  /// The life of the store: see ``StoreLife``.
  var life: UInt64 { get }

  /// Reads one state of the store.
  func readingHistory<T>(_ body: (Connection) throws -> T) throws -> T
  /// Writes in one transaction, which is rolled back if `body` throws.
  func writingHistory<T>(_ body: (Connection) throws -> T) throws -> T
  /// The meaning and settings of the history in the state that a connection reads, whoever has set them; nil if there
  /// is none.
  ///
  /// Called within ``readingHistory(_:)``, after the first statement, which begins the transaction.
  func presentHistory(in connection: Connection) throws -> HistoryMap?
  /// Continues with another meaning of the history's tables; nil if they no longer exist.
  func useHistory(_ history: HistoryMap?)
}
