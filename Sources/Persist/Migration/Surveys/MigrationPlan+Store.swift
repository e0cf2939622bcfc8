public import Foundation

extension MigrationPlan {
  /// Plans the migration of a store, including the number of affected rows.
  ///
  /// Nothing is written, and no file is created beside the store.
  ///
  /// ```swift
  /// let plan = try MigrationPlan(storeAt: url, to: registry.currentVersion, registry: registry)
  /// ```
  ///
  /// - Parameters:
  ///   - url: the file of the store.
  ///   - version: the target version; nil for the current one of the store's family.
  ///   - registry: every known version, and mapping models.
  ///   - migrator: the migrator that would execute the plan: its mapping models, policies and stages are used.
  /// - Throws: ``PersistenceError/Code/missingSourceModel`` if the store's model isn't known,
  ///   ``PersistenceError/Code/mappingAmbiguous``, and the errors of files that aren't stores.
  /// - Complexity: linear in the number of rows, which are counted.
  public init(
    storeAt url: URL, to version: ModelVersion? = nil, registry: ModelRegistry,
    migrator: AutomaticMigrator = AutomaticMigrator()
  ) throws {
    let resources = migrator.resources(registry)
    self = try StoreLocation(url).inspect { inspector in
      let family = try inspector.identify(among: registry).family
      let survey = try PathSurvey(
        inspector, to: version ?? family?.current ?? registry.currentVersion, resources: resources)
      var plan =
        survey.isUpToDate || survey.path.isInPlace
        ? try MigrationPlan(survey.direct, downgrade: migrator.downgrade, inspector: inspector, url: url)
        : try MigrationPlan(survey, migrator: migrator, inspector: inspector, url: url)
      let fileBlockers = survey.fileBlockers
      if !fileBlockers.isEmpty {
        plan.blockers = fileBlockers + plan.blockers
        plan.way = .impossible
      }
      plan.unreadable = plan.blockers.isEmpty ? try survey.unreadableValues(in: StoreLocation(url), StoreOptions()) : []
      plan.notes = survey.path.notes(resources)
      plan.notes += survey.direct.parkingObstacles.map { "Values can't be parked: \($0)" }
      if let comparisons = survey.comparisons, !survey.isUpToDate {
        plan.restored = try survey.restored(by: comparisons, inspector)
        plan.notes += comparisons.notes
      }
      return plan
    }
  }

  /// Creates a plan that uses a new file.
  private init(
    _ survey: PathSurvey, migrator: AutomaticMigrator, inspector: any StoreInspector, url: URL
  ) throws {
    try self.init(survey.path, survey.resources)
    let found = try survey.findings(inspector, countingLosses: true)
    let later = try LaterLosses(survey.path, in: survey.store.tableMap, survey.resources, counting: inspector)
    losses = []
    for (index, hop) in survey.path.hops.enumerated() {
      let own = try index == 0 ? found.losses : later.counted(hop.losses(survey.resources), ofHop: index)
      losses += own
      // Hops with a mapping model or a policy park nothing that they leave out.
      if migrator.effectiveParking == .always, hop.isInferred { parked += own }
    }
    blockers += found.blockers.filter { !blockers.contains($0) }
    let back = survey.direct.downgradeBlocker(
      StoreSurvey.Findings(blockers: blockers, losses: found.losses), migrator.downgrade)
    blockers = [back, survey.parkingBlocker].compactMap { $0 } + blockers
    if !blockers.isEmpty { way = .impossible }
    rows = try survey.rows(inspector)
    let location = StoreLocation(url)
    bytes = try location.engine.size(of: location)
    extraBytes = ExtraSpace.copies(survey.path.simultaneousCopies, ofSize: bytes ?? 0)
  }

  private init(
    _ survey: StoreSurvey, downgrade: AutomaticMigrator.Downgrade, inspector: any StoreInspector, url: URL
  ) throws {
    self.init(survey.hop, work: survey.work)
    let found = try survey.findings(inspector, countingLosses: true)
    let back = survey.downgradeBlocker(found, downgrade)
    losses = found.losses
    parked = back == nil ? found.parked : []
    blockers = [back].compactMap { $0 } + found.blockers
    if !blockers.isEmpty { way = .impossible }
    if survey.isUpToDate {
      way = .none
      steps = []
    }
    rows = try survey.store.rowsByTable(inspector).values.reduce(0, +)
    let location = StoreLocation(url)
    bytes = try location.engine.size(of: location)
    extraBytes = way == .inPlace ? try survey.extraSpace(ofSize: bytes ?? 0, inspector) : 0
  }
}

extension StoreSurvey {
  /// The additional disk space of the migration in place, in bytes.
  func extraSpace(ofSize size: Int, _ inspector: any StoreInspector) throws -> Int {
    try work.extraSpace(ofSize: size, in: map, schema: store.catalog.schema, inspector: inspector)
  }
}

extension PathSurvey {
  /// The parked values that the migration restores.
  fileprivate func restored(
    by comparisons: ParkingComparisons, _ inspector: any StoreInspector
  ) throws -> [MigrationLoss] {
    var found: [MigrationLoss] = []
    for slot in slots {
      guard let count = comparisons.restoredCount(slot) else { continue }
      let rows = try inspector.firstNumber(count)
      let what = MigrationLoss(slot.kind, entity: slot.entity, property: slot.property)
      guard rows > 0, !found.contains(where: { $0.isSame(as: what) }) else { continue }
      found.append(what.counting(rows))
    }
    return found
  }
}
