public import Foundation

/// Brings stores to the coordinator's model when they are opened: compares, plans, migrates.
///
/// What can be done in place is done in one transaction: killed at any instant, the store is of the old version or of
/// the new one. What can't is refused, with all that stands in the way, and the store is as it was.
///
/// ```swift
/// try coordinator.addStore(at: url, options: .automaticMigration)
///
/// let careful = AutomaticMigrator(allowsLoss: false) { progress in
///   print(progress.fraction)
///   return true
/// }
/// try coordinator.addStore(at: url, options: StoreOptions(migrator: careful))
/// ```
public struct AutomaticMigrator: StoreMigrator {
  /// Called as the migration proceeds; false cancels it, and the store stays as it was.
  public typealias ProgressHandler = @Sendable (MigrationProgress) -> Bool

  /// Whether values may go that the new model has no place for, as in Core Data. Where not, a migration that would
  /// destroy values which are there is refused.
  public var allowsLoss: Bool
  /// Whether a store of a newer version may be brought back to an older one though values are lost by it.
  public var allowsDowngrade: Bool
  /// Whether to count the store's rows for the report, which takes time in proportion to them.
  public var countsRows: Bool
  public var progress: ProgressHandler?

  public init(
    allowsLoss: Bool = true, allowsDowngrade: Bool = false, countsRows: Bool = false, progress: ProgressHandler? = nil
  ) {
    self.allowsLoss = allowsLoss
    self.allowsDowngrade = allowsDowngrade
    self.countsRows = countsRows
    self.progress = progress
  }

  /// Tells a `Progress` how far the migration is; cancelling that cancels the migration.
  public init(allowsLoss: Bool = true, reportingTo progress: Progress) {
    self.init(allowsLoss: allowsLoss) { state in
      progress.totalUnitCount = state.total
      progress.completedUnitCount = state.completed
      return !progress.isCancelled
    }
  }

  public func migrateStore(
    at url: URL, to model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions
  ) throws {
    let version = registry?.versions.last { $0.model === model }
      ?? registry?.versions.last { $0.model.fingerprints == model.fingerprints }
      ?? ModelVersion(name: model.versionIdentifiers.first { !$0.isEmpty } ?? "the coordinator's model", model: model)
    // The coordinator's own model is what counts, also where a version is only stored alike.
    let destination = ModelVersion(
      name: version.name, model: version.model, url: version.url, coreDataHashes: version.coreDataHashes)
    try migrate(storeAt: url, to: destination, registry: registry, options: options)
  }

  /// Brings a store to a version, or leaves it as it was and throws.
  ///
  /// - Parameters:
  ///   - registry: every known version, and mapping models.
  ///   - options: time-out and pragmas for the work.
  /// - Throws: ``PersistError/Code/mappingNotInferable``, ``PersistError/Code/missingMappingModel`` and others of what
  ///   stands in the way; ``PersistError/Code/migrationCancelled``; ``PersistError/Code/storeBusy`` where another
  ///   process holds the store; ``PersistError/Code/migrationFailed``.
  @discardableResult
  public func migrate(
    storeAt url: URL, to version: ModelVersion, registry: ModelRegistry?, options: StoreOptions = StoreOptions()
  ) throws -> MigrationReport {
    guard !options.isReadOnly else {
      throw PersistError(
        .storeReadOnly, at: .store(url), "The store is of another version and would have to be migrated.",
        fix: "Open it for writing.")
    }
    return try InPlaceMigration(
      url: url, destination: version, registry: registry, options: options, allowsLoss: allowsLoss,
      allowsDowngrade: allowsDowngrade, countsRows: countsRows, progress: progress
    ).run()
  }
}

extension StoreOptions {
  /// Opens stores of the current version, and brings others to it.
  public static var automaticMigration: StoreOptions { StoreOptions(migrator: AutomaticMigrator()) }

  /// As ``automaticMigration``, but refuses a migration that would destroy values.
  public static var automaticMigrationRefusingLoss: StoreOptions {
    StoreOptions(migrator: AutomaticMigrator(allowsLoss: false))
  }
}
