public import Foundation

/// Brings stores to the coordinator's model when they are opened: compares, plans, migrates.
///
/// From one version to a later one the way leads through the versions in between. Hops that follow from the models are
/// done in place, in one transaction. Where a hop has a mapping model or a stage with work in code, all is done in a
/// file beside the store, which takes its place in the end. Either way, killed at any instant, the store is of the old
/// version or of the new one. What can't be is refused, with all that stands in the way, and the store is as it was.
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

  /// Whether a store of a newer version may be brought back to an older one.
  public enum Downgrade: Sendable, Hashable {
    /// It is refused with ``PersistError/Code/newerStore``.
    case refused
    /// Where no value is lost by it; else it is refused.
    case withoutLoss
    /// Also where values are lost by it.
    case withLoss
  }

  /// Whether values may go that the new model has no place for, as in Core Data. Where not, a migration that would
  /// destroy values which are there is refused.
  public var allowsLoss: Bool
  /// What to do with a store of a newer version.
  public var downgrade: Downgrade
  /// Whether to count the store's rows for the report, which takes time in proportion to them.
  public var countsRows: Bool
  public var progress: ProgressHandler?
  /// Mapping models built in code; they come before those that the registry found.
  public var mappingModels: [MappingModel]
  /// The policy classes that mapping models name.
  public var policies: MigrationPolicies
  /// Stages with work in code; nil for none.
  public var staged: StagedMigration?
  /// Whether to go through a new file even where it could be done in place.
  public var copies: Bool
  /// Whether steps that may wait are left for ``PersistentStoreCoordinator/finishDeferredMigration(within:)``: columns
  /// of removed attributes, and indexes that only make fetching faster. Until then the store is whole and is used as
  /// ever. Only where all is done in place; a new file has nothing that could wait.
  public var defersWork = false
  /// How often to try again where others had the store or the work was interrupted.
  public var retries = 2
  /// Makes the manager of a mapping model's run, where a subclass is to serve its expressions; nil for the plain one.
  public var managerFactory: (@Sendable (ManagedObjectModel, ManagedObjectModel) -> MigrationManager)?

  public init(
    allowsLoss: Bool = true, downgrade: Downgrade = .refused, countsRows: Bool = false,
    mappingModels: [MappingModel] = [], policies: MigrationPolicies = [], staged: StagedMigration? = nil,
    copies: Bool = false, progress: ProgressHandler? = nil
  ) {
    self.allowsLoss = allowsLoss
    self.downgrade = downgrade
    self.countsRows = countsRows
    self.mappingModels = mappingModels
    self.policies = policies
    self.staged = staged
    self.copies = copies
    self.progress = progress
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
    guard let progress else { return try migrateWithRetries(url, version, registry, options) }
    let account = MigrationAccount(progress)
    var migrator = self
    migrator.progress = { account.tell($0) }
    let report = try migrator.migrateWithRetries(url, version, registry, options)
    account.end(report)
    return report
  }

  private func migrateWithRetries(
    _ url: URL, _ version: ModelVersion, _ registry: ModelRegistry?, _ options: StoreOptions
  ) throws -> MigrationReport {
    var attempt = 0
    while true {
      do {
        try UnfinishedWork.settle(storeAt: url, options: options)
        return try attemptMigration(url, version, means(registry), options)
      } catch let error as PersistError
        where [.storeBusy, .interrupted].contains(error.code) && attempt < retries {
        attempt += 1
        // Whoever has the store may be about to let it go.
        Thread.sleep(forTimeInterval: min(0.05 * Double(attempt), 1))
      }
    }
  }

  private func attemptMigration(
    _ url: URL, _ version: ModelVersion, _ means: MigrationMeans, _ options: StoreOptions
  ) throws -> MigrationReport {
    let survey = try preview(url, version, means, options)
    if !survey.isUpToDate { try MigrationRequirements(store: SQLiteFileName.resolved(url)).check() }
    guard let backup = options.backup, !survey.isUpToDate else {
      return try carryOut(survey, url, version, means, options)
    }
    return try BackedUpMigration(store: SQLiteFileName.resolved(url), backup: backup).run {
      try carryOut(survey, url, version, means, options)
    }
  }

  private func carryOut(
    _ survey: RouteSurvey, _ url: URL, _ version: ModelVersion, _ means: MigrationMeans, _ options: StoreOptions
  ) throws -> MigrationReport {
    if survey.isUpToDate || survey.route.isInPlace {
      return try InPlaceMigration(
        url: url, destination: version, registry: means.pathRegistry, options: options, allowsLoss: allowsLoss,
        downgrade: downgrade, countsRows: countsRows, defersWork: defersWork, progress: progress
      ).run()
    }
    return try RouteMigration(url: url, destination: version, means: means, options: options, migrator: self).run()
  }

  /// Looks at the store without writing, so that one which is refused keeps every byte.
  private func preview(
    _ url: URL, _ version: ModelVersion, _ means: MigrationMeans, _ options: StoreOptions
  ) throws -> RouteSurvey {
    let connection = try SQLiteConnection(url, mode: .readOnly, options: options)
    defer { connection.close() }
    return try connection.readTransaction {
      let survey = try RouteSurvey(connection, to: version, means: means)
      if !survey.isUpToDate, !survey.route.isInPlace, var error = try survey.error(connection, self) {
        error.place.store = url
        throw error
      }
      return survey
    }
  }

  func means(_ registry: ModelRegistry?) -> MigrationMeans {
    MigrationMeans(
      registry: registry, mappingModels: mappingModels, policies: policies, staged: staged, copies: copies,
      defersWork: defersWork)
  }

  func makeManager(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) -> MigrationManager {
    managerFactory?(source, destination) ?? MigrationManager(sourceModel: source, destinationModel: destination)
  }
}

extension StoreOptions {
  /// Opens stores of the current version, and brings others to it.
  public static var automaticMigration: StoreOptions { StoreOptions(migrator: AutomaticMigrator()) }

  /// As ``automaticMigration``, but leaves for later what may wait.
  public static var automaticMigrationDeferringWork: StoreOptions {
    var migrator = AutomaticMigrator()
    migrator.defersWork = true
    return StoreOptions(migrator: migrator)
  }

  /// As ``automaticMigration``, but refuses a migration that would destroy values.
  public static var refusingLoss: StoreOptions {
    StoreOptions(migrator: AutomaticMigrator(allowsLoss: false))
  }

  /// As ``automaticMigration``, and brings a store of a newer version back to the current one where nothing is lost by
  /// it; else that is refused with ``PersistError/Code/newerStore``.
  public static var allowingDowngrade: StoreOptions {
    StoreOptions(migrator: AutomaticMigrator(downgrade: .withoutLoss))
  }
}
