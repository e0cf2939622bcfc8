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
    let location = StoreLocation(url)
    self = try location.engine.inspect(location, options: StoreOptions()) { inspector in
      let family = try inspector.identify(among: registry).family
      let survey = try PathSurvey(
        inspector, to: version ?? family?.current ?? registry.currentVersion, resources: resources)
      var plan =
        survey.isUpToDate || survey.path.isInPlace
        ? try MigrationPlan(survey.direct, migrator.downgrade, inspector, url: url)
        : try MigrationPlan(survey, migrator, inspector, url: url)
      let fileBlockers = survey.fileBlockers
      if !fileBlockers.isEmpty {
        plan.blockers = fileBlockers + plan.blockers
        plan.way = .impossible
      }
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
    _ survey: PathSurvey, _ migrator: AutomaticMigrator, _ inspector: any StoreInspector, url: URL
  ) throws {
    try self.init(survey.path, survey.resources)
    let found = try survey.findings(inspector, countingLosses: true)
    losses = try found.losses + survey.path.hops.dropFirst().flatMap { try $0.losses(survey.resources) }
    blockers += found.blockers.filter { !blockers.contains($0) }
    let back = survey.direct.downgradeBlocker(
      StoreSurvey.Findings(blockers: blockers, losses: found.losses), migrator.downgrade)
    blockers = [back, survey.parkingBlocker].compactMap { $0 } + blockers
    if !blockers.isEmpty { way = .impossible }
    rows = try survey.rows(inspector)
    let location = StoreLocation(url)
    let bytes = try location.engine.size(of: location)
    self.bytes = bytes
    extraBytes = bytes * survey.path.simultaneousCopies + 64 * 1024
  }

  private init(
    _ survey: StoreSurvey, _ downgrade: AutomaticMigrator.Downgrade, _ inspector: any StoreInspector, url: URL
  ) throws {
    self.init(survey.hop, work: survey.work)
    let found = try survey.findings(inspector, countingLosses: true)
    losses = found.losses
    parked = found.parked
    blockers = [survey.downgradeBlocker(found, downgrade)].compactMap { $0 } + found.blockers
    if !blockers.isEmpty { way = .impossible }
    if survey.isUpToDate {
      way = .none
      steps = []
    }
    let rowsByTable = try survey.store.rowsByTable(inspector)
    let rows = rowsByTable.values.reduce(0, +)
    let location = StoreLocation(url)
    let bytes = try location.engine.size(of: location)
    self.rows = rows
    self.bytes = bytes
    extraBytes = way == .inPlace ? Self.extraBytes(survey.work, rowsByTable, rows: rows, bytes: bytes) : 0
  }

  /// The size of the write-ahead log: the written share of the file, and twice that for tables that are rebuilt.
  private static func extraBytes(
    _ work: InPlaceWork, _ rowsByTable: [String: Int], rows: Int, bytes: Int
  ) -> Int {
    let base = 64 * 1024
    guard rows > 0 else { return base }
    let touched = work.changes.reduce(into: [String: Int]()) { touched, change in
      guard let table = change.change.writtenTable else { return }
      var weight = 1
      if case .rebuildTable = change.change { weight = 2 }
      touched[table] = max(touched[table] ?? 0, weight)
    }
    let written = touched.reduce(0) { $0 + (rowsByTable[$1.key] ?? 0) * $1.value }
    return base + Int(Double(bytes) * Double(written) / Double(rows))
  }
}

extension PathSurvey {
  /// The parked values that the migration restores.
  fileprivate func restored(
    by comparisons: ParkingComparisons, _ inspector: any StoreInspector
  ) throws -> [MigrationLoss] {
    var found: [MigrationLoss] = []
    for slot in slots where comparisons.hasPlace(slot) {
      let rows = try inspector.firstNumber(.countParked(slot))
      let what = MigrationLoss(slot.kind, entity: slot.entity, property: slot.property)
      guard rows > 0, !found.contains(where: { $0.isSame(as: what) }) else { continue }
      found.append(what.counting(rows))
    }
    return found
  }
}
