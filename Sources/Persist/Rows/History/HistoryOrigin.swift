/// The author of changes, as the history records it.
package struct HistoryOrigin: Sendable, Hashable {
  /// The context's ``ManagedObjectContext/transactionAuthor``.
  package var author: String?
  /// The context's ``ManagedObjectContext/name``.
  package var contextName: String?
  /// What the store is to remember about an exchange that the changes are part of.
  package var exchange: ExchangeNotes?

  package init(author: String? = nil, contextName: String? = nil) {
    self.author = author
    self.contextName = contextName
  }
}
