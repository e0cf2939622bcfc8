package import Foundation

/// The open database of a store that has another model than the coordinator's, so that it is migrated and then used
/// with the connection by which its model was identified.
package protocol UnmigratedStore: AnyObject, Sendable {
  var url: URL? { get }
  /// Reads the store in one transaction, without changing anything.
  ///
  /// - Returns: Nil if others have changed the store since its model was identified; what `body` threw is then ignored.
  func inspect<T>(_ body: (any StoreInspector) throws -> T) throws -> T?
  /// Runs a migration in place in one transaction, which is rolled back if `body` throws.
  ///
  /// The connection is prepared for it as by ``MigrationConnection/prepareForMigration()``, except that its commit is
  /// only as durable as that of a save, and afterward for the use of the store.
  ///
  /// - Returns: Nil if others have changed the store since its model was identified, or if another process migrates it,
  ///   or was killed while it did; nothing is changed then.
  func migrate<T>(_ body: (any MigrationConnection) throws -> T) throws -> T?
  /// Opens the store after its migration.
  func open(_ model: ManagedObjectModel, options: StoreOptions) throws -> any PersistentStore
  /// Closes the database, unless the store was opened.
  func close()
  /// Whether the store was closed or opened.
  var isEnded: Bool { get }
}
