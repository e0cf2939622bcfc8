package import Foundation

/// A selection of transactions from the history of one store.
package struct HistoryQuery: Sendable {
  /// Only transactions with greater numbers; nil for all.
  package var afterNumber: Int64?
  /// Only transactions after a time; nil for all.
  package var afterDate: Date?
  /// Only transactions by an author; nil for all.
  package var author: String?
  /// Whether the transactions contain their changes.
  package var includesChanges = true

  package init(afterNumber: Int64? = nil, afterDate: Date? = nil, author: String? = nil) {
    self.afterNumber = afterNumber
    self.afterDate = afterDate
    self.author = author
  }
}
