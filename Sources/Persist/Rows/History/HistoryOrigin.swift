/// The author of changes, as the history records it.
package struct HistoryOrigin: Sendable {
  /// The context's ``ManagedObjectContext/transactionAuthor``.
  package var author: String?
  /// The context's ``ManagedObjectContext/name``.
  package var contextName: String?
  /// Entries of a product, for the store to write with the changes.
  package var attached: AttachedEntries?

  package init(author: String? = nil, contextName: String? = nil) {
    self.author = author
    self.contextName = contextName
  }
}
