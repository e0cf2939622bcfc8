/// The metadata of an open store that were set since its last commit, which the next one writes.
package final class PendingMetadata: Sendable {

  package init() {}
  private let pending = LockProtected<StoreMetadata?>(nil)

  /// Nil if none were set.
  package var current: StoreMetadata? { pending.withLock { $0 } }

  /// Sets the metadata that the next commit writes.
  ///
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if they are another store's;
  ///   ``PersistenceError/Code/storeReadOnly`` if the store was opened for reading only.
  package func set(_ metadata: StoreMetadata, of store: some PersistentStore) throws {
    guard metadata.identifier == store.identifier else {
      throw PersistenceError(
        .invalidRequest, at: .store(store.url),
        "The identifier of an open store can't be changed, because its objects are identified by it.",
        fix: "Close the store first, or leave the identifier as it is.")
    }
    guard !store.isReadOnly else {
      throw PersistenceError(
        .storeReadOnly, at: .store(store.url),
        "The store was opened for reading only, so its metadata can't be changed.",
        fix: "Open it without isReadOnly to write.")
    }
    pending.withLock { $0 = metadata }
  }

  /// Clears the metadata that a commit has written, unless others were set in the meantime.
  package func didWrite(_ written: StoreMetadata?) {
    guard let written else { return }
    pending.withLock { if $0 == written { $0 = nil } }
  }
}
