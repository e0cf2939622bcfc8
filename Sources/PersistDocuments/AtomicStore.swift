public import Foundation

/// A store that is read and written as a whole: a document in a file, a record in a keychain, a value on a server.
///
/// An implementation loads all objects and saves all objects; the object graph, requests, undo and migrations are
/// Persist's. ``DocumentFile`` is an implementation, in JSON and in XML.
///
/// `AtomicStoreContract` of the product `PersistTesting` tests whether an implementation keeps what Persist relies on.
public protocol AtomicStore: Sendable {
  /// The file of the document, which errors name; nil if it isn't in a file.
  var location: URL? { get }

  /// Reads the document.
  ///
  /// - Returns: Nil if there is none yet.
  /// - Throws: An error if there is one that can't be read. It is never overwritten then.
  func load() throws -> StoreDocument?

  /// Replaces the document, in one step: whatever happens meanwhile, a later ``load()`` returns the old document or the
  /// new one, whole.
  ///
  /// Called before a save of a context succeeds, never from two threads at once.
  ///
  /// - Throws: An error if the document can't be written, or isn't the one that was loaded or saved last. The save of
  ///   the context then fails with it, and the old document remains.
  func save(_ document: StoreDocument) throws
}
