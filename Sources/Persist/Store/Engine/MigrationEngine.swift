package import Foundation

/// The operations of an engine that migrations need in addition to ``StoreEngine``.
///
/// A migration reads a store through a ``StoreInspector`` and changes it through a ``MigrationConnection``; anything
/// about files, locks and free space is the engine's own.
package protocol MigrationEngine: StoreEngine {
  // MARK: Reading and writing

  /// Reads a store in one transaction, without changing anything.
  func inspect<T>(
    _ location: StoreLocation, options: StoreOptions, _ body: (any StoreInspector) throws -> T
  ) throws -> T
  /// Opens a store for changes. The caller closes the connection.
  func connect(to location: StoreLocation, options: StoreOptions) throws -> any MigrationConnection
  /// A value that differs if another program may have changed the store in the meantime.
  func state(of location: StoreLocation) -> AnyHashable
  /// The size of a store in bytes.
  func size(of location: StoreLocation) -> Int
  /// - Parameter bytes: The additional space, as the plan of the migration states it.
  /// - Throws: ``PersistenceError/Code/diskFull`` if there isn't enough.
  func requireDiskSpace(for location: StoreLocation, bytes: Int) throws
  /// Runs a migration after making a backup. If it fails and leaves the store damaged, the store is restored.
  func withBackup<T>(
    of location: StoreLocation, _ backup: MigrationBackup, waitingAtMost wait: Duration, _ body: () throws -> T
  ) throws -> T

  /// Converts all rows that an earlier migration left to be converted.
  func finishConversions(in location: StoreLocation, options: StoreOptions) throws

  /// The statements of a change of the schema, as plans show them.
  func shownStatements(of change: SchemaChange) -> [String]

  // MARK: Copying

  /// Copies everything that is parked in a store to another one that has nothing parked.
  func copyParkedValues(from source: StoreLocation, to destination: StoreLocation) throws

  /// Prevents others from writing to a store whose migration is made in a file elsewhere; nil if the engine copies its
  /// stores itself, in a ``MigrationWorkspace``.
  ///
  /// - Throws: ``PersistenceError/Code/storeBusy`` if another program writes and the timeout expires.
  func exclusion(of location: StoreLocation, options: StoreOptions) throws -> (any StoreExclusion)?
  /// Acquires the only workspace of a store, which prevents concurrent migrations.
  ///
  /// - Throws: ``PersistenceError/Code/storeBusy`` if another process doesn't release it in time.
  func workspace(for location: StoreLocation, waitingAtMost wait: Duration) throws -> any MigrationWorkspace
  /// Copies a store, with its large values, to a location where nothing exists yet.
  func duplicate(_ source: StoreLocation, to destination: StoreLocation) throws
  /// Opens a store for a copy with another model.
  ///
  /// - Parameter isNew: Whether the destination doesn't exist yet.
  func copy(
    _ source: StoreLocation, to destination: StoreLocation, model: ManagedObjectModel, isNew: Bool
  ) throws -> any StoreCopy
  /// Lets the history of a copy that nobody else has open follow the migration.
  ///
  /// - Parameters:
  ///   - former: The layout of the store that was copied.
  ///   - model: The model of the copy.
  ///   - renames: The properties of the copy that have the values of others.
  func recordMigrationInHistory(
    of location: StoreLocation, from former: TableMap, to model: ManagedObjectModel, renames: PropertyRenames
  ) throws
  /// Changes the metadata of a store that nobody else has open.
  ///
  /// - Parameter completingFile: Whether the store must be a single file afterward.
  func changeMetadata(
    of location: StoreLocation, completingFile: Bool, _ change: (inout StoreMetadata) -> Void
  ) throws
}

extension MigrationEngine {
  /// Every migration of such an engine converts all rows itself.
  package func finishConversions(in location: StoreLocation, options: StoreOptions) throws {}

  package func copyParkedValues(from source: StoreLocation, to destination: StoreLocation) throws {}

  package func exclusion(of location: StoreLocation, options: StoreOptions) throws -> (any StoreExclusion)? { nil }
}

/// The place where a store is migrated, by one process at a time.
package protocol MigrationWorkspace {
  /// The store itself, without symbolic links.
  var store: URL { get }
  /// Prevents others from writing to the store while a copy of it is made.
  ///
  /// - Throws: ``PersistenceError/Code/storeBusy`` if another connection writes and the timeout expires.
  func hold(options: StoreOptions) throws -> any HeldStore
  /// The file of the store after a hop, by the hop's number.
  func file(_ number: Int) throws -> URL
  /// Records large values to delete after the commit of a migration, even if this process is killed right after it.
  ///
  /// - Parameter logEntry: The entry of the migration in the store's log, which decides whether it took place.
  func announceRemoval(of largeValues: [String], after logEntry: PropertyList) throws
  /// Ends the migration and deletes the files of its hops; an incomplete exchange is undone.
  func remove()
}

/// A store to which nobody can write, while a copy of it is migrated elsewhere.
package protocol StoreExclusion {
  /// Whether the store still is what it was when its migration was planned.
  func isCurrent(_ catalog: StoreCatalog) throws -> Bool
  /// Runs `body` with a connection that changes what is parked in the store, as a part of the exchange.
  func changingParkedValues<T>(_ body: (any MigrationConnection) throws -> T) throws -> T
  /// Lets a finished copy, of the same engine, take the place of the store, and ends the exclusion. What is parked in
  /// the store remains.
  ///
  /// - Parameter finish: Called with the store after the exchange, as a part of it.
  func replaceStore(
    withCopyAt copy: StoreLocation, _ finish: (any MigrationConnection) throws -> Void) throws
  /// Lets others write again. Does nothing after the store was replaced.
  func end()
}

/// A store to which nobody else can write.
package protocol HeldStore {
  var inspector: any StoreInspector { get }
  /// Replaces the content of the store by that of a file, including large values, and ends the hold.
  ///
  /// - Parameters:
  ///   - tables: The layout of the store.
  ///   - replacement: A finished file in the workspace.
  ///   - model: The model of the replacement.
  ///   - logEntry: The entry of the migration in the replacement's log.
  ///   - report: Called with the written fraction. An error that it throws leaves the store unchanged.
  func replaceContent(
    of tables: TableMap, by replacement: URL, model: ManagedObjectModel, logEntry: PropertyList,
    reporting report: (Double) throws -> Void
  ) throws
  /// Releases the store.
  func end()
}
