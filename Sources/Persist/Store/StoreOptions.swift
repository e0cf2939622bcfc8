public import Foundation

/// How a store is opened.
///
/// ```swift
/// try coordinator.addStore(at: url, options: .automaticMigration)
/// try coordinator.addStore(at: url, options: StoreOptions(isReadOnly: true))
/// ```
public struct StoreOptions: Sendable {
  /// Whether the store is only read. Nothing is then written, neither the file nor beside it.
  public var isReadOnly: Bool
  /// How long a save or a fetch may wait for other writers of the same process, and for another process or connection
  /// to release the file.
  ///
  /// It bounds the whole wait. Zero fails at once. Cancelling the task that waits ends the wait earlier.
  ///
  /// - Throws: Saving and fetching throw ``PersistenceError/Code/storeBusy`` when the wait runs out.
  /// - SeeAlso: <https://sqlite.org/c3ref/busy_timeout.html>
  public var busyTimeout: Duration
  /// SQLite pragmas by name, set on every connection after Persist's own, such as `["synchronous": "FULL"]`.
  ///
  /// - SeeAlso: <https://sqlite.org/pragma.html>
  public var pragmas: [String: String]
  /// The configuration of the model whose entities the store holds; nil for all.
  public var configuration: String?
  /// Whether to make the store where there is none.
  public var createsIfMissing: Bool
  /// What brings a store of another model version to the coordinator's; nil to refuse such a store.
  public var migrator: (any StoreMigrator)?
  /// A copy of the store that is made before it is migrated; nil for none.
  public var backup: MigrationBackup?

  public init(
    isReadOnly: Bool = false, busyTimeout: Duration = .seconds(5), pragmas: [String: String] = [:],
    configuration: String? = nil, createsIfMissing: Bool = true, migrator: (any StoreMigrator)? = nil
  ) {
    self.isReadOnly = isReadOnly
    self.busyTimeout = busyTimeout
    self.pragmas = pragmas
    self.configuration = configuration
    self.createsIfMissing = createsIfMissing
    self.migrator = migrator
  }
}

/// What `addStore` calls when a store has another model than the coordinator's.
///
/// The migration layer implements it; the store layer only declares it, so that layers keep their order.
public protocol StoreMigrator: Sendable {
  /// Whether work that may wait is left for ``PersistentStoreCoordinator/finishDeferredMigration(within:)``: false by
  /// default.
  var defersWork: Bool { get }

  /// Brings the store at `url` to `model`, or leaves it as it was and throws.
  ///
  /// - Parameters:
  ///   - model: the model to reach.
  ///   - registry: every known version, the store's among them where it is known.
  ///   - options: how the store is to be opened afterwards: time-out, pragmas.
  func migrateStore(at url: URL, to model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions) throws
}

extension StoreMigrator {
  public var defersWork: Bool { false }
}
