/// The survey of a store for a new version: the hop, the work, and the findings in its rows.
package final class StoreSurvey {
  /// The results of counting rows.
  package struct Findings {
    package var blockers: [MigrationBlocker] = []
    /// Actual losses; those without rows are omitted.
    package var losses: [MigrationLoss] = []
    /// Whether parking is for these losses: not for values that a mapping model leaves out.
    var canParkLosses = true
    /// The values that are parked instead of being lost.
    package var parked: [MigrationLoss] = []
    /// The values that the new version's types can't read.
    var unreadable: [UnreadableValues] = []
  }

  package let store: IdentifiedStore
  let hop: MigrationHop
  package let map: TableMap
  /// The layout that the migration results in.
  let planned: TableMap
  package let work: InPlaceWork
  /// The parked values that are restored.
  let parked: ParkedReturn
  /// Whether the store is newer than the target version.
  let isDowngrade: Bool
  /// The plan of parking; nil if losses remain losses.
  var parking: ParkingPlan?
  /// Whether the plan of parking contains only what would be lost, for any target version.
  var parksOnlyLosses = false
  /// The reasons for which nothing can be parked, although it should be.
  var parkingObstacles: [String] = []
  /// The resources of the migration, for explanations of obstacles.
  var resources: MigrationResources?

  /// - Parameters:
  ///   - hop: a hop from the store's version.
  ///   - isDowngrade: whether the hop's path leads to an older version; nil to determine it from the store.
  ///   - keepsRemovedColumns: whether columns of removed attributes remain, to be parked.
  ///   - comparisons: the comparisons for the parked values that are restored; nil for none.
  ///   - returning: the parked values that another store has, instead.
  ///   - converting: the tables, by their new names, whose values are converted after the migration.
  ///   - planned: the layout to plan; nil for that of a new store.
  ///   - editing: replaces each change by those that remain of it.
  @inline(never)
  package init(
    _ store: IdentifiedStore, hop: MigrationHop, isDowngrade: Bool? = nil, defersWork: Bool = false,
    keepsRemovedColumns: Bool = false, parked comparisons: ParkingComparisons? = nil, returning: ParkedReturn? = nil,
    converting: Set<String> = [], planned layout: TableMap? = nil, editing: ((SchemaChange) -> [SchemaChange])? = nil
  ) {
    self.store = store
    self.hop = hop
    self.isDowngrade = isDowngrade ?? store.isNewer(than: hop.destination.model)
    map = store.tableMap
    planned = layout ?? .forNewStore(hop.destination.model, names: map.names)
    parked = comparisons?.restored(in: planned) ?? returning ?? ParkedReturn()
    let work = InPlacePlanner.plan(
      from: map, schema: store.catalog.schema, to: planned, comparison: hop.comparison,
      canDropColumns: store.catalog.canDropColumns, defersWork: defersWork,
      keepsRemovedColumns: keepsRemovedColumns && store.catalog.canDropColumns,
      converting: converting, parked: parked)
    self.work = editing.map { work.editing($0) } ?? work
  }

  /// The rows' destinations.
  var moves: [RowMove] { RowMove.all(from: map, to: planned, by: hop.comparison.correspondence) }

  /// Whether the store already has the new version, as far as that can be determined from the store.
  var isUpToDate: Bool {
    store.model === hop.destination.model
      || store.model.fingerprints == hop.destination.model.fingerprints && work.changes.isEmpty
        && work.deferred.isEmpty && work.laterUpdates.isEmpty
  }

  var way: MigrationWay { MigrationPlan(hop, work: work).way }

  /// The blocker for a model without any of the store's entities: it belongs to another application, or lacks renaming
  /// identifiers or a mapping model.
  private var unrelatedModelBlocker: MigrationBlocker? {
    guard !isUpToDate, hop.isInferred, hop.comparison.correspondence.entities.isEmpty, !store.model.entities.isEmpty,
      !hop.destination.model.entities.isEmpty
    else { return nil }
    return MigrationBlocker(
      .incompatibleModel,
      what: "No entity of '\(hop.destination.name)' matches an entity of the store, or is derived from one.",
      fix: (resources?.unusedMappingModels(from: hop.source, to: hop.destination) ?? []).first
        ?? (hop.isOfOneFamily
          ? "Give the entities renaming identifiers, or the hop a mapping model."
          : "Check that the store and the model belong together."))
  }

  /// - Parameter countingLosses: whether to count losses; blockers are always determined.
  package func findings(_ inspector: any StoreInspector, countingLosses: Bool) throws -> Findings {
    var findings = Findings(blockers: hop.blockers)
    findings.blockers += work.blockers
    if let unrelatedModelBlocker { findings.blockers.append(unrelatedModelBlocker) }
    guard findings.blockers.isEmpty, map.differences.isEmpty else {
      findings.blockers += map.differences.map { difference in
        MigrationBlocker(
          .storeDamaged, what: "The store is damaged: \(difference)",
          fix: "Check it with 'persist check'.")
      }
      return findings
    }
    for check in work.checks {
      switch check.meaning {
      case .blocker(let blocker):
        let count = try inspector.count(check.count)
        if count > 0 { findings.blockers.append(blocker.counting(count)) }
      case .loss(var loss):
        guard countingLosses else { continue }
        let rows = try inspector.count(check.count)
        guard rows > 0 else { continue }
        // One loss may be counted in several places.
        if let index = findings.losses.firstIndex(where: { $0.isSame(as: loss) }) {
          findings.losses[index].rows = (findings.losses[index].rows ?? 0) + rows
        } else {
          loss.rows = rows
          findings.losses.append(loss)
        }
      }
    }
    guard let parking else { return findings }
    // Otherwise the new version still has no place for the values, and a migration to an older one needs permission.
    if !parksOnlyLosses { findings.losses = [] }
    findings.parked = countingLosses ? try parking.counts(inspector) : []
    return findings
  }

  /// The error that prevents the migration; nil if it is possible.
  func error(_ findings: Findings, allowsLoss: Bool, downgrade: AutomaticMigrator.Downgrade) -> PersistenceError? {
    var blockers = findings.blockers
    if let back = downgradeBlocker(findings, downgrade) { blockers.insert(back, at: 0) }
    if !allowsLoss {
      blockers += findings.losses.map { loss in
        MigrationBlocker(
          refusing: loss, isParkedIfAllowed: findings.canParkLosses, notParkedBecause: parkingObstacles.first)
      }
      blockers += findings.unreadable.map(MigrationBlocker.init(refusing:))
    }
    guard !blockers.isEmpty else { return nil }
    return MigrationPlan(
      from: hop.source.name, to: hop.destination.name, way: .impossible, blockers: blockers
    ).error
  }

  /// The blocker for migrating a newer store back; nil if that is possible, or if the store isn't newer.
  func downgradeBlocker(_ findings: Findings, _ downgrade: AutomaticMigrator.Downgrade) -> MigrationBlocker? {
    guard isDowngrade else { return nil }
    let what = "The store has the newer version '\(hop.source.name)'"
    let program = "Open it with a program that knows '\(hop.source.name)'"
    guard findings.blockers.isEmpty else {
      return MigrationBlocker(
        .newerStore, what: "\(what), and it can't be migrated back to '\(hop.destination.name)'.",
        fix: "\(program), or add a mapping model for the downgrade.")
    }
    if downgrade == .withLoss { return nil }
    guard findings.losses.isEmpty else {
      let losses = findings.losses.map(\.description).joined(separator: "; ")
      let reason = parkingObstacles.first.map { " They can't be parked: \($0)" } ?? ""
      return MigrationBlocker(
        .newerStore,
        what: "\(what); downgrading it to '\(hop.destination.name)' would lose values: \(losses).\(reason)",
        fix: "\(program), or allow the loss (`--allow-loss`, `downgrade: .withLoss`).")
    }
    guard downgrade == .refused else { return nil }
    return MigrationBlocker(
      .newerStore, what: "\(what) than '\(hop.destination.name)'.",
      fix: "\(program), or downgrade it, which loses nothing (`downgrade: .withoutLoss`).")
  }
}

extension MigrationBlocker {
  /// Creates the blocker for a loss that isn't allowed.
  ///
  /// - Parameters:
  ///   - isParkedIfAllowed: Whether allowing the loss parks the values. Those that a mapping model leaves out aren't.
  ///   - obstacle: The reason for which the values can't be parked, in a sentence.
  init(refusing loss: MigrationLoss, isParkedIfAllowed: Bool, notParkedBecause obstacle: String?) {
    if isParkedIfAllowed, obstacle == nil {
      self.init(
        .migrationFailed, entity: loss.entity, property: loss.property,
        what: "\(loss): the new model has no place for these values.",
        fix: "Allow it (`--allow-loss`, `allowsLoss`), which parks the values in the store unless parking is off, or "
          + "keep the properties in the new model.")
      return
    }
    let reason = obstacle.map { " It can't be parked: \($0)" } ?? ""
    self.init(
      .migrationFailed, entity: loss.entity, property: loss.property,
      what: "\(loss) would be lost.\(reason)",
      fix: "Allow the loss (`--allow-loss`, `allowsLoss`), or keep the lost properties in the new model.")
  }
}

extension IdentifiedStore {
  /// The entity tables that exist in the store.
  private var tables: Set<String> {
    Set(tableMap.tables.map(\.table).filter { catalog.schema.hasTable(named: $0) })
  }

  func rowsByTable(_ inspector: any StoreInspector) throws -> [String: Int] {
    try tables.reduce(into: Dictionary()) { rows, table in rows[table] = try inspector.count(.rows(table, .all)) }
  }

  /// The approximate number of rows, which is quick to find.
  func approximateRowCount(_ inspector: any StoreInspector) throws -> Int64 {
    try tables.reduce(1) { try $0 + inspector.approximateRowCount(of: $1) }
  }

  /// The number of rows; nil if counting them would take too long.
  package func affordableRowCount(_ inspector: any StoreInspector) throws -> Int? {
    guard try approximateRowCount(inspector) <= MigrationLogEntry.countedRows else { return nil }
    return try rowsByTable(inspector).values.reduce(0, +)
  }
}
