import Foundation
import Synchronization

/// The open file of a store that has another model than the coordinator's.
final class UnmigratedFile: UnmigratedStore {
  private let pool: SQLiteConnectionPool
  private let hasEnded = Atomic(false)
  /// The state for which the migration has sealed the store; nil if it hasn't.
  private let sealed = LockProtected<LayoutSeal.State?>(nil)

  init(_ pool: SQLiteConnectionPool) { self.pool = pool }

  var url: URL? { pool.url }
  var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

  func close() {
    if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { pool.close() }
  }

  func inspect<T>(_ catalog: StoreCatalog, _ body: (any StoreInspector) throws -> T) throws -> T? {
    try pool.withWriter { connection in
      try connection.readTransaction {
        let result = Result { try body(connection) }
        guard try isOf(catalog, connection) else { return nil }
        return try result.get()
      }
    }
  }

  /// Whether the store still has the catalog by which its model was identified.
  private func isOf(_ catalog: StoreCatalog, _ connection: SQLiteConnection) throws -> Bool {
    try connection.dataVersion == pool.writtenVersion || catalog.isCurrent(connection)
  }

  func migrate<T>(_ catalog: StoreCatalog, _ body: (any MigrationConnection) throws -> T) throws -> T? {
    guard let url = pool.url else { return nil }
    let folder = WorkingFolder.url(besideStoreAt: SQLiteFileName.resolved(url))
    return try pool.withWriter { connection in
      try connection.prepareForChanges()
      // If a power failure undoes the commit, the store is as before, because no files are removed after it.
      try connection.setSynchronous(pool.options)
      defer { connection.endChanges() }
      let result = try connection.transaction { () -> T? in
        // While this connection holds the write lock, no other process can begin to replace the store's content.
        guard try isOf(catalog, connection), !connection.hasMoved, FileState(folder) == nil else { return nil }
        return try body(connection)
      }
      guard result != nil else { return nil }
      pool.writtenVersion = connection.dataVersion
      sealed.withLock { $0 = connection.migratedState }
      return result
    }
  }

  func open(_ model: ManagedObjectModel, options: StoreOptions) throws -> any PersistentStore {
    precondition(!hasEnded.exchange(true, ordering: .acquiringAndReleasing), "The store was closed or opened before.")
    do {
      if let state = sealed.withLock({ $0 }), !options.requestsHistory {
        return try SQLiteStore.sealed(state, in: pool, model: model, options: options)
      }
      return try SQLiteStore.attached(to: pool, model: model, options: options)
    } catch {
      pool.close()
      throw error
    }
  }
}
