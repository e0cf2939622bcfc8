/// The survey of a store for a target version: the route there, and its obstacles.
struct RouteSurvey {
  let store: IdentifiedStore
  let route: MigrationRoute
  /// The direct comparison of the store and the version, as for a single transaction.
  let direct: StoreSurvey
  let means: MigrationMeans

  /// - Parameter catalog: the store's catalog, if already read.
  init(
    _ connection: SQLiteConnection, to destination: ModelVersion, means: MigrationMeans, catalog: StoreCatalog? = nil
  ) throws {
    self.means = means
    store = try StoreIdentification.identify(connection, registry: means.pathRegistry, catalog)
    let source = store.source
    route = try MigrationRoute(from: source, to: destination, means: means)
    let hop =
      if route.isInPlace, let only = route.hops.first { only } else {
        try MigrationHop(from: source, to: destination, registry: means.pathRegistry)
      }
    direct = StoreSurvey(store, hop: hop, defersWork: means.defersWork)
  }

  var isUpToDate: Bool { direct.isUpToDate }

  func rows(_ connection: SQLiteConnection) throws -> Int {
    try store.rowsByTable(connection).values.reduce(0, +)
  }

  func report(rows: Int?, way: MigrationWay) -> MigrationReport {
    MigrationReport(
      from: route.source.name, to: route.destination.name, way: way, hops: way == .none ? 0 : route.hops.count,
      rows: rows, duration: .zero)
  }

  /// The findings in the rows for the first hop; the rows of later hops don't exist yet.
  func findings(_ connection: SQLiteConnection, countingLosses: Bool) throws -> StoreSurvey.Findings {
    guard let survey = firstHopSurvey() else {
      guard countingLosses, let hop = route.hops.first, case .mapping(let mapping) = hop.method, hop.blockers.isEmpty,
        store.tableMap.differences.isEmpty
      else { return StoreSurvey.Findings() }
      return StoreSurvey.Findings(
        losses: try MigrationRoute.losses(of: mapping, hop, means, in: store.tableMap, connection))
    }
    return try survey.findings(connection, countingLosses: countingLosses)
  }

  /// The error that prevents the migration; nil if it is possible.
  func error(_ connection: SQLiteConnection, _ migrator: AutomaticMigrator) throws -> PersistenceError? {
    if !route.blockers.isEmpty, !route.isInPlace || !means.infersMapping {
      let back = direct.backBlocker(StoreSurvey.Findings(blockers: route.blockers), migrator.downgrade)
      return MigrationPlan(
        from: route.source.name, to: route.destination.name, way: .impossible,
        blockers: [back].compactMap { $0 } + route.blockers
      ).error
    }
    guard let survey = firstHopSurvey() else {
      guard !migrator.allowsLoss else { return nil }
      return MigrationPlan.refusal(
        of: try findings(connection, countingLosses: true).losses, from: route.source.name,
        to: route.destination.name)
    }
    return survey.error(
      try survey.findings(connection, countingLosses: !migrator.allowsLoss || direct.leadsBack),
      allowsLoss: migrator.allowsLoss, downgrade: migrator.downgrade)
  }

  private func firstHopSurvey() -> StoreSurvey? {
    guard let hop = route.hops.first, hop.isInferred else { return nil }
    if route.isInPlace { return direct }
    return StoreSurvey(store, hop: hop, leadsBack: direct.leadsBack)
  }
}
