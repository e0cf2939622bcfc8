/// Observes the work of stores, for tracing and metrics: the hook of the product PersistObservability.
///
/// A store without an instrument pays one comparison with nil for each access.
package protocol StoreInstrument: AnyObject, Sendable {
  /// Returns a store that observes the calls of another, for use in its place.
  func observing(_ store: any PersistentStore) -> any PersistentStore
  /// Returns a migrator that observes the calls of another, for use in its place.
  func observing(_ migrator: any StoreMigrator) -> any StoreMigrator
  /// Called on a thread after it has waited for a store.
  func waited(for reason: StoreWait, _ duration: Duration)
  /// Called on a thread after a connection has executed statements for it.
  func executed(statements: Int)
}

/// The reason for which a thread waited for a store.
package enum StoreWait: String, Sendable {
  /// Another thread of the program was writing.
  case writer
  /// All connections were in use.
  case connection
  /// A further connection was opened.
  case opening
  /// All threads on which tasks use stores were busy.
  case thread
  /// Another connection or program held a lock of the file.
  case lock
}

/// The state of a store's resources at one moment.
package struct StoreStatistics: Sendable, Equatable {
  /// The number of open connections for reading, or for everything on a server.
  package var connections = 0
  /// The connections of these that nobody uses.
  package var idleConnections = 0
  /// The limit of ``connections``.
  package var maximumConnections = 0
  /// The number of threads that wait for the right to write.
  package var waitingWriters = 0
  /// The pages that connections found in their caches, and those that they read from the file, since they were opened.
  /// Connections in use aren't counted.
  package var cacheHits = 0, cacheMisses = 0
  /// The size of the write-ahead log in bytes; nil if the store has none.
  package var logSize: Int?

  package init() {}
}
