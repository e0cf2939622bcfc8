package import Foundation

/// A selection of transactions from the history of one store.
package struct HistoryQuery: Sendable {
  /// Only transactions with greater numbers; nil for all.
  package var afterNumber: Int64?
  /// The mark of the transaction with the number ``afterNumber``; nil if it isn't known.
  package var afterMark: HistoryMark?
  /// Only transactions after a time; nil for all.
  package var afterDate: Date?
  /// Only transactions by an author; nil for all.
  package var author: String?
  /// Only the last transactions that changed an object, with only the changes of this object; nil for all objects.
  package var subject: Subject?
  /// Whether the transactions contain their changes.
  package var includesChanges = true
  /// Whether updates and deletions contain old values, if the history keeps them.
  package var includesOldValues = true

  /// An object whose changes are selected.
  package struct Subject: Sendable {
    package var object: ManagedObjectID
    /// The maximum number of transactions; the latest are selected.
    package var limit: Int

    package init(_ object: ManagedObjectID, limit: Int) {
      self.object = object
      self.limit = limit
    }
  }

  package init(afterNumber: Int64? = nil, afterDate: Date? = nil, author: String? = nil) {
    self.afterNumber = afterNumber
    self.afterDate = afterDate
    self.author = author
  }
}
