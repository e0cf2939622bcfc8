/// The author of changes, as the history records it.
package struct HistoryOrigin: Sendable, Hashable {
  /// The context's ``ManagedObjectContext/transactionAuthor``.
  package var author: String?
  /// The context's ``ManagedObjectContext/name``.
  package var contextName: String?

  package init(author: String? = nil, contextName: String? = nil) {
    self.author = author
    self.contextName = contextName
  }
}
