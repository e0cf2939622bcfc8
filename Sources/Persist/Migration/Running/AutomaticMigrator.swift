public import Foundation

/// Brings stores to the coordinator's model when they are opened: compares, plans, migrates.
///
/// A migration that can be inferred from the models is one hop, directly from the store's model to the coordinator's,
/// in place, in one transaction. A mapping model or a stage with work in code makes a hop of its own; everything is
/// then done in a file beside the store, which becomes its content in the end. Either way the store always ends up
/// complete: the old version or the new one. A migration that isn't possible is refused with all its obstacles, and the
/// store stays as it was.
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
public struct AutomaticMigrator: StoreMigrator, CatalogMigrator {
  /// Called as the migration proceeds; false cancels it, and the store stays as it was.
  public typealias ProgressHandler = @Sendable (MigrationProgress) -> Bool

  /// Whether a store that says that it is newer than the version to reach may be brought back.
  ///
  /// A store says so by the models that it had before; where its model is unknown, also by a greater version number.
  /// The order of a registry's versions plays no part.
  public enum Downgrade: Sendable, Hashable {
    /// It is refused with ``PersistenceError/Code/newerStore``.
    case refused
    /// Where no value is lost by it, as in Core Data; else it is refused with ``PersistenceError/Code/newerStore``.
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
  /// Whether what follows from the models is done without a mapping model. Where not, as in Core Data without
  /// `NSInferMappingModelAutomaticallyOption`, a hop that neither a mapping model nor a stage is given for is refused
  /// with ``PersistenceError/Code/missingMappingModel``.
  public var infersMapping = true
  /// How often to try again where others had the store or the work was interrupted.
  public var retries = 2
  /// Makes the manager of a mapping model's run, where a subclass is to serve its expressions; nil for the plain one.
  public var managerFactory: (@Sendable (ManagedObjectModel, ManagedObjectModel) -> MigrationManager)?

  public init(
    allowsLoss: Bool = true, downgrade: Downgrade = .withoutLoss, countsRows: Bool = false,
    mappingModels: [MappingModel] = [], policies: MigrationPolicies = [], staged: StagedMigration? = nil,
    copies: Bool = false, infersMapping: Bool = true, progress: ProgressHandler? = nil
  ) {
    self.allowsLoss = allowsLoss
    self.downgrade = downgrade
    self.countsRows = countsRows
    self.mappingModels = mappingModels
    self.policies = policies
    self.staged = staged
    self.copies = copies
    self.infersMapping = infersMapping
    self.progress = progress
  }

  public func migrateStore(
    at url: URL, to model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions
  ) throws {
    try migrate(storeAt: url, to: destination(model, registry), registry: registry, options: options)
  }

  func migrateStore(
    at url: URL, to model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions, catalog: StoreCatalog
  ) throws {
    try migrate(storeAt: url, to: destination(model, registry), registry, options, catalog)
  }

  private func destination(_ model: ManagedObjectModel, _ registry: ModelRegistry?) -> ModelVersion {
    let version = registry?.version(with: model)
      ?? registry?.versions.last { $0.model.fingerprints == model.fingerprints }
      ?? ModelVersion(name: model.versionIdentifiers.first { !$0.isEmpty } ?? "the coordinator's model", model: model)
    // The coordinator's own model is what counts, also where a version is only stored alike.
    return ModelVersion(
      name: version.name, model: version.model, url: version.url, coreDataHashes: version.coreDataHashes)
  }

  /// Brings a store to a version, or leaves it as it was and throws.
  ///
  /// - Parameters:
  ///   - registry: every known version, and mapping models.
  ///   - options: time-out and pragmas for the work.
  /// - Throws: ``PersistenceError/Code/mappingNotInferable``, ``PersistenceError/Code/missingMappingModel`` and others
  ///   of what stands in the way; ``PersistenceError/Code/migrationCancelled``; ``PersistenceError/Code/storeBusy``
  ///   where another process holds the store; ``PersistenceError/Code/migrationFailed``.
  @discardableResult
  public func migrate(
    storeAt url: URL, to version: ModelVersion, registry: ModelRegistry?, options: StoreOptions = StoreOptions()
  ) throws -> MigrationReport {
    try migrate(storeAt: url, to: version, registry, options, nil)
  }

  @discardableResult
  private func migrate(
    storeAt url: URL, to version: ModelVersion, _ registry: ModelRegistry?, _ options: StoreOptions,
    _ catalog: StoreCatalog?
  ) throws -> MigrationReport {
    guard !options.isReadOnly else {
      throw PersistenceError(
        .storeReadOnly, at: .store(url), "The store is of another version and would have to be migrated.",
        fix: "Open it for writing.")
    }
    guard let progress else { return try migrateWithRetries(url, version, registry, options, catalog) }
    let account = MigrationAccount(progress)
    var migrator = self
    migrator.progress = { account.tell($0) }
    let report = try migrator.migrateWithRetries(url, version, registry, options, catalog)
    account.end(report)
    return report
  }

  private func migrateWithRetries(
    _ url: URL, _ version: ModelVersion, _ registry: ModelRegistry?, _ options: StoreOptions, _ catalog: StoreCatalog?
  ) throws -> MigrationReport {
    var attempt = 0
    while true {
      do {
        try UnfinishedWork.settle(storeAt: url, options: options)
        return try attemptMigration(url, version, means(registry), options, catalog)
      } catch let error as PersistenceError
        where [.storeBusy, .interrupted].contains(error.code) && attempt < retries {
        attempt += 1
        // Whoever has the store may be about to let it go.
        Thread.sleep(forTimeInterval: min(0.05 * Double(attempt), 1))
      }
    }
  }

  private func attemptMigration(
    _ url: URL, _ version: ModelVersion, _ means: MigrationMeans, _ options: StoreOptions, _ catalog: StoreCatalog?
  ) throws -> MigrationReport {
    let store = SQLiteFileName.resolved(url)
    let before = StoreFilesState(of: store)
    var survey = try preview(url, version, means, options, catalog)
    guard !survey.isUpToDate else { return try upToDateReport(survey, url, version, means, options) }
    let folder = try WorkingFolder(besideStoreAt: store, waitingAtMost: options.busyTimeout)
    defer { folder.remove() }
    if StoreFilesState(of: store) != before {
      // Another process was faster.
      survey = try preview(url, version, means, options, survey.store.catalog)
      guard !survey.isUpToDate else { return try upToDateReport(survey, url, version, means, options) }
    }
    guard let backup = options.backup else { return try carryOut(survey, url, version, means, options, folder) }
    return try BackedUpMigration(store: store, backup: backup, busyTimeout: options.busyTimeout).run {
      try carryOut(survey, url, version, means, options, folder)
    }
  }

  private func upToDateReport(
    _ survey: RouteSurvey, _ url: URL, _ version: ModelVersion, _ means: MigrationMeans, _ options: StoreOptions
  ) throws -> MigrationReport {
    try VersionStamp(url: url, version: version, registry: means.pathRegistry, options: options).apply(to: survey.store)
    guard countsRows else { return survey.report(rows: nil, way: .none) }
    return try SQLiteConnection.reading(url, options: options) { connection in
      survey.report(rows: try survey.rows(connection), way: .none)
    }
  }

  private func carryOut(
    _ survey: RouteSurvey, _ url: URL, _ version: ModelVersion, _ means: MigrationMeans, _ options: StoreOptions,
    _ folder: WorkingFolder
  ) throws -> MigrationReport {
    if survey.route.isInPlace {
      return try InPlaceMigration(
        url: url, destination: version, registry: means.pathRegistry, options: options, migrator: self,
        survey: survey.direct, folder: folder
      ).run()
    }
    return try RouteMigration(
      url: url, destination: version, means: means, options: options, migrator: self, folder: folder
    ).run()
  }

  /// Looks at the store without writing, so that one which is refused keeps every byte.
  ///
  /// - Parameter catalog: what was read of it before.
  private func preview(
    _ url: URL, _ version: ModelVersion, _ means: MigrationMeans, _ options: StoreOptions, _ catalog: StoreCatalog?
  ) throws -> RouteSurvey {
    try SQLiteConnection.reading(url, options: options) { connection in
      let survey = try RouteSurvey(connection, to: version, means: means, catalog: catalog)
      guard !survey.isUpToDate else { return survey }
      if var error = try survey.error(connection, self) {
        error.place.store = url
        throw error
      }
      try MigrationRequirements(store: SQLiteFileName.resolved(url)).check(connection)
      return survey
    }
  }

  func means(_ registry: ModelRegistry?) -> MigrationMeans {
    MigrationMeans(
      registry: registry, mappingModels: mappingModels, policies: policies, staged: staged, copies: copies,
      infersMapping: infersMapping, defersWork: defersWork)
  }

  func makeManager(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) -> MigrationManager {
    managerFactory?(source, destination) ?? MigrationManager(sourceModel: source, destinationModel: destination)
  }
}

extension StoreOptions {
  /// Opens stores of the current version, and brings others to it; those of a newer version where nothing is lost by it
  /// (``AutomaticMigrator/Downgrade/withoutLoss``).
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
}
