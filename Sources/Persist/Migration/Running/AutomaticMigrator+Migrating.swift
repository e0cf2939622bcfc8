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
    let version = registry?.version(with: model)
      ?? registry?.versions.last { $0.model.fingerprints == model.fingerprints }
      ?? unregisteredVersion(of: model)
    try migrate(storeAt: url, to: version, registry: registry, options: options)
  }

  /// A version of a model that the registry doesn't contain: with the name that a stage gives it, otherwise with its
  /// identifier.
  func unregisteredVersion(of model: ManagedObjectModel) -> ModelVersion {
    let listed = staged?.versions.last { $0.model === model || $0.model.fingerprints == model.fingerprints }
    let name = listed?.name ?? model.versionIdentifiers.first { !$0.isEmpty } ?? "the coordinator's model"
    return ModelVersion(name: name, model: model, coreDataHashes: listed?.coreDataHashes)
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
      let request = MigrationRequest(url: url, version: version, resources: resources(registry), options: options)
      guard let progress else {
        let report = try attemptRepeatedly(request)
        logParkedValues(report, at: url)
        return report
      }
      let account = ProgressAggregator(progress)
      var migrator = self
      migrator.progress = { account.report($0) }
      let report = try migrator.attemptRepeatedly(request)
      account.end(report)
      logParkedValues(report, at: url)
      return report
    }
  }

  private func logParkedValues(_ report: MigrationReport, at url: URL) {
    if parking == .always, logsParkedValues, !isTrial { report.logParkedValues(at: url) }
  }

  /// The time for which a retry waits for others if former attempts have used up the time.
  private static let shortWait = Duration.milliseconds(500)

  private func attemptRepeatedly(_ request: MigrationRequest) throws -> MigrationReport {
    var request = request
    let location = request.location
    let known = request.options.knownStore as? StoreDifference
    let wait = request.options.busyTimeout
    let deadline = ContinuousClock.now + wait
    var attempt = 0
    while true {
      do {
        if attempt == 0, let known, let report = try continueInOpenStore(known, request) { return report }
        _ = try location.engine.recoverStore(at: location, options: request.options)
        return try attemptMigration(request, known?.store?.catalog)
      } catch let error as PersistenceError
        where [.storeBusy, .interrupted].contains(error.code) && attempt < retries {
        attempt += 1
        // The process that holds the store may be about to release it.
        Thread.sleep(forTimeInterval: min(0.05 * Double(attempt), 1))
        // All attempts together wait for about as long as one may.
        request.options.busyTimeout = max(deadline - ContinuousClock.now, min(wait, Self.shortWait))
      }
    }
  }

  /// Migrates a store in place with the connection by which its model was identified.
  ///
  /// Nothing is made beside the store, because the transaction alone decides whether the migration took place.
  ///
  /// - Returns: Nil if the migration needs more than a transaction, if others migrate the store at this moment, or if
  ///   they have changed its catalog, as they do by saving new objects. It is then unchanged and closed.
  private func continueInOpenStore(_ known: StoreDifference, _ request: MigrationRequest) throws -> MigrationReport? {
    guard let store = known.store, let opened = known.opened, opened.url == request.url, !opened.isEnded
    else { return nil }
    guard !store.metadata.hasConversions else {
      opened.close()
      return nil
    }
    do {
      if request.options.backup == nil, compareWays == nil,
        let (survey, state) = try opened.inspect(store.catalog, { inspector in
          try transactionPreview(store, inspector, for: request).map { ($0, inspector.stateNumber) }
        }) ?? nil
      {
        let migration = InPlaceMigration(
          url: request.url, destination: request.version, registry: request.resources.pathRegistry,
          options: request.options, migrator: self, survey: survey.direct, checkedState: state)
        if var report = try opened.migrate(store.catalog, { try migration.runInTransaction(of: $0) }) {
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

  private func attemptMigration(_ request: MigrationRequest, _ catalog: StoreCatalog?) throws -> MigrationReport {
    let location = request.location
    let engine = try location.engine
    var before = engine.state(of: location)
    var survey = try preview(request, catalog)
    guard !survey.isUpToDate else { return try upToDateReport(survey, request) }
    if survey.store.metadata.hasConversions {
      // The possible losses and obstacles are known before anything is written.
      try engine.finishConversions(in: location, options: request.options)
      before = engine.state(of: location)
      survey = try preview(request, nil)
      guard !survey.isUpToDate else { return try upToDateReport(survey, request) }
    }
    let workspace = try engine.workspace(for: location, waitingAtMost: request.options.busyTimeout)
    defer { workspace.remove() }
    if engine.state(of: location) != before {
      // Another process migrated the store first.
      survey = try preview(request, survey.store.catalog)
      guard !survey.isUpToDate else { return try upToDateReport(survey, request) }
    }
    guard let backup = request.options.backup else { return try carryOut(request, survey, in: workspace) }
    return try engine.withBackup(of: location, backup, waitingAtMost: request.options.busyTimeout) {
      try carryOut(request, survey, in: workspace)
    }
  }

  private func upToDateReport(_ survey: PathSurvey, _ request: MigrationRequest) throws -> MigrationReport {
    let (url, version, options) = (request.url, request.version, request.options)
    let registry = request.resources.pathRegistry
    try VersionStamp(url: url, version: version, registry: registry, options: options).apply(to: survey.store)
    let restored = try survey.slots.isEmpty
      ? 0 : maintain(url, known: version, model: version.model, registry: registry, options: options)
    let rows = try countsRows ? request.location.inspect(options: options) { try survey.rows($0) } : nil
    var report = survey.report(rows: rows, way: .none)
    report.restored = restored
    return report
  }

  private func carryOut(
    _ request: MigrationRequest, _ survey: PathSurvey, in workspace: any MigrationWorkspace
  ) throws -> MigrationReport {
    let (url, version, options) = (request.url, request.version, request.options)
    let resources = request.resources
    if survey.path.isInPlace {
      return try InPlaceMigration(
        url: url, destination: version, registry: resources.pathRegistry, options: options, migrator: self,
        survey: survey.direct, workspace: workspace,
        proof: { try prove(request, workspace) }
      ).run()
    }
    let location = request.location
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
  private func preview(_ request: MigrationRequest, _ catalog: StoreCatalog?) throws -> PathSurvey {
    return try request.location.inspect(options: request.options) { inspector in
      let survey = try PathSurvey(inspector, to: request.version, resources: request.resources, catalog: catalog)
      try requirePossible(survey, inspector, for: request)
      return survey
    }
  }

  /// Surveys an identified store for a migration in one transaction.
  ///
  /// - Returns: Nil if the migration needs more, or nothing. Whether it is possible is then not known yet.
  private func transactionPreview(
    _ store: IdentifiedStore, _ inspector: any StoreInspector, for request: MigrationRequest
  ) throws -> PathSurvey? {
    let (version, resources) = (request.version, request.resources)
    // The store was identified among the registry's versions and the wanted one.
    let survey = try resources.registry?.version(with: version.model) != nil
      ? PathSurvey(store, inspector, to: version, resources: resources)
      : PathSurvey(inspector, to: version, resources: resources, catalog: store.catalog)
    guard survey.needsOnlyTransaction else { return nil }
    try requirePossible(survey, inspector, for: request)
    return survey
  }

  /// - Throws: The obstacles to the migration.
  private func requirePossible(
    _ survey: PathSurvey, _ inspector: any StoreInspector, for request: MigrationRequest
  ) throws {
    guard !survey.isUpToDate else {
      return try requireReadable(survey.path.destination.model, at: request.url, options: request.options)
    }
    if var error = try survey.error(inspector, self, reading: (request.location, request.options)) {
      error.place.store = request.url
      throw error
    }
    try inspector.requireMigratable()
  }
}
