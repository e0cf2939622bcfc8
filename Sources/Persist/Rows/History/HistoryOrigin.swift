/// The author of changes, as the history records it.
package struct HistoryOrigin: Sendable, Hashable {
  /// The context's ``ManagedObjectContext/transactionAuthor``.
  package var author: String?
  /// The context's ``ManagedObjectContext/name``.
  package var contextName: String?
  /// Notes about the exchange that the changes are part of, for the store to write with them.
  package var exchange: ExchangeNotes?

  package init(author: String? = nil, contextName: String? = nil) {
    self.author = author
    self.contextName = contextName
  }
}
