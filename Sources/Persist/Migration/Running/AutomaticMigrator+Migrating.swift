public import Foundation

extension AutomaticMigrator: StoreMigrator {
  /// True: a migration in place continues with the connection that `addStore` has opened.
  public var continuesWithOpenStore: Bool { true }

  /// Migrates the store at a URL to a model; called by `addStore` for a store of another version.
  ///
  /// - Throws: The obstacles or the failure of the migration; the store is then unchanged.
  public func migrateStore(
    at url: URL, to model: ManagedObjectModel, registry: ModelRegistry?, options: StoreOptions
  ) throws {
    try migrate(storeAt: url, to: destination(model, registry), registry: registry, options: options)
  }

  private func destination(_ model: ManagedObjectModel, _ registry: ModelRegistry?) -> ModelVersion {
    let version = registry?.version(with: model)
      ?? registry?.versions.last { $0.model.fingerprints == model.fingerprints }
      ?? ModelVersion(name: model.versionIdentifiers.first { !$0.isEmpty } ?? "the coordinator's model", model: model)
    // The coordinator's own model takes precedence, even over a version with identical storage.
    return ModelVersion(
      name: version.name, model: version.model, url: version.url, coreDataHashes: version.coreDataHashes)
  }

  /// Migrates a store to a version, or leaves it unchanged and throws.
  ///
  /// - Parameters:
  ///   - url: the file of the store.
  ///   - version: the target version.
  ///   - registry: every known version, and mapping models.
  ///   - options: the timeout and pragmas for the work.
  /// - Throws: ``PersistenceError/Code/mappingNotInferable``, ``PersistenceError/Code/missingMappingModel`` and other
  ///   obstacles; ``PersistenceError/Code/migrationCancelled``; ``PersistenceError/Code/storeBusy`` if another process
  ///   holds the store; ``PersistenceError/Code/migrationFailed``.
  @discardableResult
  @inline(never)
  public func migrate(
    storeAt url: URL, to version: ModelVersion, registry: ModelRegistry?, options: StoreOptions = StoreOptions()
  ) throws -> MigrationReport {
    guard !options.isReadOnly else {
      throw PersistenceError(
        .storeReadOnly, at: .store(url), "The store has another version and must be migrated.",
        fix: "Open it for writing.")
    }
    return try options.encrypting {
      guard let progress else {
        let report = try migrateWithRetries(url, version, registry, options)
        logParkedValues(report, at: url)
        return report
      }
      let account = ProgressAggregator(progress)
      var migrator = self
      migrator.progress = { account.report($0) }
      let report = try migrator.migrateWithRetries(url, version, registry, options)
      account.end(report)
      logParkedValues(report, at: url)
      return report
    }
  }

  private func logParkedValues(_ report: MigrationReport, at url: URL) {
    if parking == .always, !isTrial { report.logParkedValues(at: url) }
  }

  /// The time for which a retry waits for others if former attempts have used up the time.
  private static let shortWait = Duration.milliseconds(500)

  private func migrateWithRetries(
    _ url: URL, _ version: ModelVersion, _ registry: ModelRegistry?, _ options: StoreOptions
  ) throws -> MigrationReport {
    let known = options.knownStore as? StoreDifference
    var options = options
    let wait = options.busyTimeout
    let deadline = ContinuousClock.now + wait
    var attempt = 0
    while true {
      do {
        if attempt == 0, let known, let report = try migrate(known, url, version, registry, options) { return report }
        _ = try StoreLocation(url).engine.recoverStore(at: StoreLocation(url), options: options)
        return try attemptMigration(url, version, resources(registry), options, known?.store?.catalog)
      } catch let error as PersistenceError
        where [.storeBusy, .interrupted].contains(error.code) && attempt < retries {
        attempt += 1
        // The process that holds the store may be about to release it.
        Thread.sleep(forTimeInterval: min(0.05 * Double(attempt), 1))
        // All attempts together wait for about as long as one may.
        options.busyTimeout = max(deadline - ContinuousClock.now, min(wait, Self.shortWait))
      }
    }
  }

  /// Migrates a store in place with the connection by which its model was identified.
  ///
  /// Nothing is made beside the store, because the transaction alone decides whether the migration took place.
  ///
  /// - Returns: Nil if the migration needs more than a transaction, or if others use the store at this moment. The
  ///   store is then unchanged and closed.
  private func migrate(
    _ known: StoreDifference, _ url: URL, _ version: ModelVersion, _ registry: ModelRegistry?, _ options: StoreOptions
  ) throws -> MigrationReport? {
    guard let store = known.store, let opened = known.opened, opened.url == url, !opened.isEnded else { return nil }
    do {
      let resources = resources(registry)
      if options.backup == nil, compareWays == nil,
        let survey = try opened.inspect({ try transactionPreview(store, $0, url, version, resources, options) }) ?? nil
      {
        let migration = InPlaceMigration(
          url: url, destination: version, registry: resources.pathRegistry, options: options, migrator: self,
          survey: survey.direct, isSurveyCurrent: true)
        if var report = try opened.migrate(migration.runInTransaction) {
          report.duration = ContinuousClock.now - migration.start
          return report
        }
      }
    } catch {
      opened.close()
      throw error
    }
    opened.close()
    return nil
  }

  private func attemptMigration(
    _ url: URL, _ version: ModelVersion, _ resources: MigrationResources, _ options: StoreOptions,
    _ catalog: StoreCatalog?
  ) throws -> MigrationReport {
    let location = StoreLocation(url)
    let engine = try location.engine
    let before = engine.state(of: location)
    var survey = try preview(url, version, resources, options, catalog)
    guard !survey.isUpToDate else { return try upToDateReport(survey, url, version, resources, options) }
    let workspace = try engine.workspace(for: location, waitingAtMost: options.busyTimeout)
    defer { workspace.remove() }
    if engine.state(of: location) != before {
      // Another process migrated the store first.
      survey = try preview(url, version, resources, options, survey.store.catalog)
      guard !survey.isUpToDate else { return try upToDateReport(survey, url, version, resources, options) }
    }
    guard let backup = options.backup else { return try carryOut(survey, url, version, resources, options, workspace) }
    return try engine.withBackup(of: location, backup, waitingAtMost: options.busyTimeout) {
      try carryOut(survey, url, version, resources, options, workspace)
    }
  }

  private func upToDateReport(
    _ survey: PathSurvey, _ url: URL, _ version: ModelVersion, _ resources: MigrationResources, _ options: StoreOptions
  ) throws -> MigrationReport {
    try VersionStamp(url: url, version: version, registry: resources.pathRegistry, options: options)
      .apply(to: survey.store)
    let restored = try survey.slots.isEmpty
      ? 0 : maintain(url, version, version.model, resources.pathRegistry, options)
    let location = StoreLocation(url)
    let rows = try countsRows ? location.engine.inspect(location, options: options) { try survey.rows($0) } : nil
    var report = survey.report(rows: rows, way: .none)
    report.restored = restored
    return report
  }

  private func carryOut(
    _ survey: PathSurvey, _ url: URL, _ version: ModelVersion, _ resources: MigrationResources, _ options: StoreOptions,
    _ workspace: any MigrationWorkspace
  ) throws -> MigrationReport {
    if survey.path.isInPlace {
      return try InPlaceMigration(
        url: url, destination: version, registry: resources.pathRegistry, options: options, migrator: self,
        survey: survey.direct, workspace: workspace,
        proof: { try prove(url, version, resources.pathRegistry, workspace) }
      ).run()
    }
    let location = StoreLocation(url)
    if let exclusion = try location.engine.exclusion(of: location, options: options) {
      return try TransferMigration(
        url: url, destination: version, registry: resources.registry, options: options, migrator: self,
        survey: survey, exclusion: exclusion
      ).run()
    }
    return try PathMigration(
      url: url, destination: version, resources: resources, options: options, migrator: self, workspace: workspace
    ).run()
  }

  /// Surveys the store without writing, so that a rejected store isn't changed.
  ///
  /// - Parameter catalog: the store's catalog, if already read.
  private func preview(
    _ url: URL, _ version: ModelVersion, _ resources: MigrationResources, _ options: StoreOptions,
    _ catalog: StoreCatalog?
  ) throws -> PathSurvey {
    let location = StoreLocation(url)
    return try location.engine.inspect(location, options: options) { inspector in
      let survey = try PathSurvey(inspector, to: version, resources: resources, catalog: catalog)
      try requirePossible(survey, inspector, url, options)
      return survey
    }
  }

  /// Surveys an identified store for a migration in one transaction.
  ///
  /// - Returns: Nil if the migration needs more, or nothing. Whether it is possible is then not known yet.
  private func transactionPreview(
    _ store: IdentifiedStore, _ inspector: any StoreInspector, _ url: URL, _ version: ModelVersion,
    _ resources: MigrationResources, _ options: StoreOptions
  ) throws -> PathSurvey? {
    // It was identified among the versions of the registry, and the wanted one.
    let survey = try resources.registry?.version(with: version.model) != nil
      ? PathSurvey(store, inspector, to: version, resources: resources)
      : PathSurvey(inspector, to: version, resources: resources, catalog: store.catalog)
    guard survey.needsOnlyTransaction else { return nil }
    try requirePossible(survey, inspector, url, options)
    return survey
  }

  /// - Throws: The obstacles to the migration.
  private func requirePossible(
    _ survey: PathSurvey, _ inspector: any StoreInspector, _ url: URL, _ options: StoreOptions
  ) throws {
    guard !survey.isUpToDate else {
      return try requireReadable(survey.path.destination.model, at: url, options: options)
    }
    if var error = try survey.error(inspector, self, reading: (StoreLocation(url), options)) {
      error.place.store = url
      throw error
    }
    try inspector.requireMigratable()
  }
}
