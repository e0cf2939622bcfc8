/// The survey of a store for a target version: the path there, and its obstacles.
///
/// A class, like ``StoreSurvey``, because every copy of so large a value costs about 10 KB of code.
final class PathSurvey {
  let store: IdentifiedStore
  let path: MigrationPath
  /// The direct comparison of the store and the version, as for a single transaction.
  let direct: StoreSurvey
  let resources: MigrationResources
  /// The slots of the values that earlier migrations parked in the store.
  let slots: [ParkedSlot]
  /// The comparisons for the parked values that the migration can restore; nil if there are none.
  let comparisons: ParkingComparisons?

  /// - Parameter catalog: the store's catalog, if already read.
  convenience init(
    _ inspector: any StoreInspector, to destination: ModelVersion, resources: MigrationResources,
    catalog: StoreCatalog? = nil
  ) throws {
    let store = try inspector.identify(among: resources.pathRegistry, known: catalog)
    try self.init(store, inspector, to: destination, resources: resources)
  }

  /// - Parameter store: the store in its present state.
  init(
    _ store: IdentifiedStore, _ inspector: any StoreInspector, to destination: ModelVersion,
    resources: MigrationResources
  ) throws {
    self.store = store
    self.resources = resources
    let source = store.source
    path = try MigrationPath(
      from: source, to: destination, resources: resources,
      isDowngrade: resources.staged != nil && store.isNewer(than: destination.model))
    let hop =
      if path.isInPlace, let only = path.hops.first { only } else {
        try MigrationHop(from: source, to: destination, registry: resources.pathRegistry)
      }
    slots = try store.catalog.canHaveParkedValues ? inspector.parkedSlots() : []
    // If there are several hops, only the last one restores values.
    let isDirect = path.isInPlace || path.hops.count == 1 && path.hops.allSatisfy(\.isInferred)
    comparisons =
      slots.isEmpty || !isDirect || resources.parking == .discarding
      ? nil : try ParkingComparisons(slots, with: destination, registry: resources.pathRegistry, inspector: inspector)
    let isOlder = resources.parking == .olderVersions && resources.isOlder(destination, than: source)
    let (isInPlace, restored) = (path.isInPlace, comparisons)
    func survey(converting: Set<String> = []) -> StoreSurvey {
      StoreSurvey(
        store, hop: hop, isDowngrade: isOlder ? true : nil, defersWork: resources.defersWork,
        keepsRemovedColumns: resources.parking == .always && isInPlace, parked: restored,
        returning: resources.returning, converting: converting)
    }
    var direct = survey()
    let converting = try isInPlace ? direct.tablesToConvertLater(inspector, resources) : []
    if !converting.isEmpty { direct = survey(converting: converting) }
    direct.resources = resources
    // On the way back, values of the older version are parked in turn.
    let returns = !slots.isEmpty && slots.contains { $0.model == ParkedSlot.digest(of: destination.model) }
    if resources.parking == .olderVersions, direct.isDowngrade || returns, !direct.isUpToDate {
      if path.isInPlace {
        direct.planParking(resources)
      } else {
        direct.parkingObstacles = ["The store is copied, and only a migration in place parks values."]
      }
    } else if resources.parking == .always, path.isInPlace, !direct.isUpToDate {
      direct.planParkingOfLosses(resources.pathRegistry)
    }
    self.direct = direct
  }

  var isUpToDate: Bool { direct.isUpToDate }

  /// Whether the migration is a single transaction in the store, which neither deletes files of large values nor parks
  /// or restores values.
  var needsOnlyTransaction: Bool {
    path.isInPlace && !isUpToDate && direct.work.forgotten.isEmpty && direct.parking == nil && slots.isEmpty
  }

  func rows(_ inspector: any StoreInspector) throws -> Int {
    try store.rowsByTable(inspector).values.reduce(0, +)
  }

  func report(rows: Int?, way: MigrationWay) -> MigrationReport {
    MigrationReport(
      from: path.source.name, to: path.destination.name, way: way, hops: way == .none ? 0 : path.hops.count,
      rows: rows, duration: .zero)
  }

  /// The approximate cost of each hop, for which the first one counts, and of the checks before it.
  func costs(_ inspector: any StoreInspector) throws -> (preparation: Int64, hop: Int64) {
    guard let hop = path.hops.first, hop.blockers.isEmpty else { return (0, 1) }
    guard case .mapping(let mapping) = hop.method else {
      let rows = try store.approximateRowCount(inspector)
      let costs = WorkCost.inFile
      return (
        WorkCost.of(rows, each: costs.checkedRow), WorkCost.of(rows, each: costs.rewrittenRow + costs.droppedRow)
      )
    }
    guard store.tableMap.differences.isEmpty else { return (0, 1) }
    let costs = try CopyCosts(MigrationPath.plan(hop, by: mapping, resources: resources, in: store.tableMap), inspector)
    return (costs.preparation, costs.total)
  }

  /// The findings in the rows for the first hop; the rows of later hops don't exist yet.
  func findings(_ inspector: any StoreInspector, countingLosses: Bool) throws -> StoreSurvey.Findings {
    guard let survey = firstHopSurvey() else {
      guard let hop = path.hops.first, case .mapping(let mapping) = hop.method, hop.blockers.isEmpty,
        store.tableMap.differences.isEmpty
      else { return StoreSurvey.Findings() }
      let plan = try MigrationPath.plan(hop, by: mapping, resources: resources, in: store.tableMap)
      var findings = StoreSurvey.Findings(blockers: plan.blockers(in: store.catalog.schema))
      for check in plan.checks(in: store.catalog.schema) {
        let rows = try inspector.count(check.count)
        if rows > 0 { findings.blockers.append(check.blocker.counting(rows)) }
      }
      if countingLosses { findings.losses = try MappingLosses(plan).counted(inspector) }
      findings.canParkLosses = hop.isInferred
      return findings
    }
    return try survey.findings(inspector, countingLosses: countingLosses)
  }

  /// The obstacle to a migration that copies the store without its parked values: if entity mappings give objects other
  /// keys, and if the migrator promises to restore them.
  var parkingBlocker: MigrationBlocker? {
    guard !slots.isEmpty, !isUpToDate, !path.isInPlace, resources.parking != .discarding,
      resources.parking == .olderVersions || !path.keepsKeys(resources)
    else { return nil }
    return MigrationBlocker(
      .migrationFailed,
      what: "The store contains parked values of \(ModelVersion.quoted(slots[0].version)), which only a migration in "
        + "place restores.",
      fix: "Migrate in place, purge the values (`persist parked`), or discard them (`--discard`, "
        + "`parking: .discarding`).")
  }

  /// The obstacles to a migration that may need files that can't be read.
  var fileBlockers: [MigrationBlocker] {
    isUpToDate ? [] : path.unreadableFiles(resources).map(MigrationBlocker.init(unreadable:))
  }

  /// The error that prevents the migration; nil if it is possible.
  ///
  /// - Parameter rows: The store, for reading its rows if the migrator refuses unreadable values; nil if they have been
  ///   read.
  func error(
    _ inspector: any StoreInspector, _ migrator: AutomaticMigrator,
    reading rows: (location: StoreLocation, options: StoreOptions)?
  ) throws -> PersistenceError? {
    let fileBlockers = fileBlockers
    guard fileBlockers.isEmpty else {
      return MigrationPlan(
        from: path.source.name, to: path.destination.name, way: .impossible, blockers: fileBlockers
      ).error
    }
    if let parkingBlocker { return parkingBlocker.error }
    if !path.blockers.isEmpty, !path.isInPlace || !resources.infersMapping {
      let back = direct.downgradeBlocker(StoreSurvey.Findings(blockers: path.blockers), migrator.downgrade)
      return MigrationPlan(
        from: path.source.name, to: path.destination.name, way: .impossible,
        blockers: [back].compactMap { $0 } + path.blockers
      ).error
    }
    var findings = try findings(inspector, countingLosses: !migrator.allowsLoss || direct.isDowngrade)
    if let rows, !migrator.allowsLoss, findings.blockers.isEmpty {
      findings.unreadable = try unreadableValues(in: rows.location, rows.options)
    }
    return direct.error(findings, allowsLoss: migrator.allowsLoss, downgrade: migrator.downgrade)
  }

  /// Whether the models alone determine the new values, so that the types can be tried on the stored ones. Otherwise
  /// only the migrated file shows what they can read.
  var determinesValues: Bool { isUpToDate || path.hops.count == 1 && path.hops.allSatisfy(\.isPure) }

  /// The values that the new version's types can't read; empty if the values aren't known yet.
  func unreadableValues(in location: StoreLocation, _ options: StoreOptions) throws -> [UnreadableValues] {
    guard determinesValues, store.tableMap.differences.isEmpty else { return [] }
    let scan = UnreadableScan(
      from: store.model, to: path.destination.model, by: direct.hop.comparison.correspondence)
    return try scan?.values(in: location, options: options) ?? []
  }

  private func firstHopSurvey() -> StoreSurvey? {
    guard let hop = path.hops.first, hop.isInferred else { return nil }
    if path.isInPlace { return direct }
    return StoreSurvey(
      store, hop: hop, isDowngrade: direct.isDowngrade, parked: comparisons, returning: resources.returning)
  }
}

extension StoreSurvey {
  /// The tables, by their new names, whose values are converted later: if converting those of all tables at once would
  /// hold the store for longer than the budget, those that take more than a twentieth of it.
  fileprivate func tablesToConvertLater(
    _ inspector: any StoreInspector, _ resources: MigrationResources
  ) throws -> Set<String> {
    guard !work.convertibleTables.isEmpty, inspector.convertsRowsLater else { return [] }
    let costs = try work.convertibleTables.mapValues { table in
      WorkCost.of(try inspector.approximateRowCount(of: table), each: WorkCost.inFile.rewrittenRow)
    }
    let budget = WorkCost.of(resources.deferralBudget)
    guard costs.values.reduce(0, +) > budget else { return [] }
    return Set(costs.filter { $0.value > budget / 20 }.keys)
  }
}
