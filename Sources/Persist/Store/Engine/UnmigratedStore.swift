package import Foundation

/// The open database of a store that has another model than the coordinator's, so that it is migrated and then used
/// with the connection by which its model was identified.
package protocol UnmigratedStore: AnyObject, Sendable {
  var url: URL? { get }
  /// Reads the store in one transaction, without changing anything.
  ///
  /// - Parameter catalog: The catalog by which the store's model was identified.
  /// - Returns: Nil if others have changed it since, as they do by saving new objects. What `body` threw is then
  ///   ignored.
  func inspect<T>(_ catalog: StoreCatalog, _ body: (any StoreInspector) throws -> T) throws -> T?
  /// Runs a migration in place in one transaction, which is rolled back if `body` throws.
  ///
  /// The connection is prepared for it as by ``MigrationConnection/prepareForMigration()``, except that its commit is
  /// only as durable as that of a save, and afterward for the use of the store.
  ///
  /// - Parameter catalog: The catalog by which the store's model was identified.
  /// - Returns: Nil if others have changed the catalog since, or if another process migrates the store, or was killed
  ///   while it did; nothing is changed then.
  func migrate<T>(_ catalog: StoreCatalog, _ body: (any MigrationConnection) throws -> T) throws -> T?
  /// Opens the store after its migration.
  func open(_ model: ManagedObjectModel, options: StoreOptions) throws -> any PersistentStore
  /// Closes the database, unless the store was opened.
  func close()
  /// Whether the store was closed or opened.
  var isEnded: Bool { get }
}
