package import Foundation

/// The history of a store, for the layers above the engines.
package protocol StoreHistory: Sendable {
  /// Whether changes are recorded; false if the history was switched off and its past kept.
  ///
  /// Right within a write transaction. Otherwise, others may have switched the history on or off since this program
  /// last wrote: ``extent()`` has the present state.
  var isTracking: Bool { get }

  /// Stops recording changes, for every program that uses the store, until one opens it with
  /// ``StoreOptions/tracksHistory``.
  ///
  /// - Parameter keepingPast: Whether the recorded transactions remain.
  func disable(keepingPast: Bool) throws

  /// Visits each of the selected transactions once, in the order of their numbers. All are from one state of the store,
  /// unless the connection to its server is lost meanwhile.
  ///
  /// - Throws: ``PersistenceError/Code/storeDamaged`` if the history can't be read; the errors of `body`.
  func forEachTransaction(_ query: HistoryQuery, _ body: (HistoryTransaction) throws -> Void) throws
  /// Visits the selected transactions like ``forEachTransaction(_:_:)`` if the extent of the history is acceptable.
  ///
  /// The extent is that of the state from which the transactions are read, so that none can be deleted in between.
  ///
  /// - Parameter isAcceptable: Called before the first transaction, and again if the read has to run again.
  func forEachTransaction(
    _ query: HistoryQuery, provided isAcceptable: (HistoryExtent) throws -> Bool,
    _ body: (HistoryTransaction) throws -> Void
  ) throws

  /// The number of the last transaction; 0 before the first.
  func lastNumber() throws -> Int64
  /// The present extent, whoever has changed it.
  func extent() throws -> HistoryExtent
  /// The last transaction with its mark, as ``lastNumber()``.
  func lastPosition() throws -> HistoryPosition
  /// The life of the store that the history belongs to.
  var life: UInt64 { get }
  /// Whether a position belongs to this history, and not to that of another life.
  func contains(_ number: Int64, _ mark: HistoryMark) throws -> Bool
  /// Whether the history contains a transaction.
  func contains(_ number: Int64) throws -> Bool

  // Each returns the number of deleted transactions.
  /// Deletes the transactions with smaller numbers.
  func delete(before number: Int64) throws -> Int
  /// Deletes the transactions before the first one that isn't older.
  func delete(before date: Date) throws -> Int
  /// Deletes the transactions that a rule selects.
  func purge(_ purge: HistoryPurge, now: Date) throws -> Int

  /// The named readers.
  func readers() throws -> [HistoryReaderRecord]
  /// Records how far a reader has read.
  func setReader(_ record: HistoryReaderRecord) throws
  /// Forgets a reader, so that no purge waits for it.
  func removeReader(_ name: String) throws

  // The entries that a product keeps in the store.
  /// The entries in each of some ranges, in the order of their keys, from one state of the store.
  ///
  /// - Parameter limit: The maximum number of entries of each range.
  func attachedEntries(_ ranges: [AttachedRange], limit: Int) throws -> [[AttachedEntry]]
  /// The values of entries, from one state of the store.
  ///
  /// - Parameter keys: Their keys, in ascending order.
  func attachedValues(of keys: ByteList) throws -> AttachedValues
  /// Writes entries in a transaction of its own, which the history doesn't record.
  ///
  /// - Throws: ``PersistenceError/Code/mergeConflict`` if others have written unexpectedly.
  func write(_ entries: AttachedEntries) throws
}

/// A running observation of a store's changes by anyone.
package protocol StoreMonitor: AnyObject, Sendable {
  /// Ends the observation and waits for its thread; not to be called from within a report.
  func end()
}
