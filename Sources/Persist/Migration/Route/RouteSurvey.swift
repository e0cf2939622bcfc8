/// A store looked at with a version in mind: the route there, and what stands in its way.
struct RouteSurvey {
  let store: IdentifiedStore
  let route: MigrationRoute
  /// The store against the version directly, as one transaction would bring it there.
  let direct: StoreSurvey
  private let means: MigrationMeans

  init(_ connection: SQLiteConnection, to destination: ModelVersion, means: MigrationMeans) throws {
    self.means = means
    store = try StoreIdentification.identify(connection, registry: means.pathRegistry)
    direct = try StoreSurvey(store, to: destination, registry: means.pathRegistry, defersWork: means.defersWork)
    route = try MigrationRoute(
      from: direct.chain.source, to: destination, means: means, isNewer: store.isNewer(than: destination.model))
  }

  var isUpToDate: Bool { direct.isUpToDate }

  func rows(_ connection: SQLiteConnection) throws -> Int {
    try store.rowsByTable(connection).values.reduce(0, +)
  }

  func report(rows: Int?, way: MigrationWay) -> MigrationReport {
    MigrationReport(
      from: direct.chain.source.name, to: direct.chain.destination.name, way: way,
      hops: way == .none ? 0 : route.hopCount, rows: rows, duration: .zero)
  }

  /// What the rows have to say of the first leg, where it follows from the models alone; later legs begin with rows
  /// that aren't there yet.
  func findings(_ connection: SQLiteConnection, countingLosses: Bool) throws -> StoreSurvey.Findings {
    guard let survey = try firstLegSurvey() else { return StoreSurvey.Findings() }
    return try survey.findings(connection, countingLosses: countingLosses)
  }

  /// Why the migration can't be; nil where it can.
  func error(_ connection: SQLiteConnection, _ migrator: AutomaticMigrator) throws -> PersistError? {
    if !route.blockers.isEmpty {
      let back = direct.backBlocker(StoreSurvey.Findings(blockers: route.blockers), migrator.downgrade)
      return MigrationPlan(
        from: route.source.name, to: route.destination.name, way: .impossible,
        blockers: [back].compactMap { $0 } + route.blockers
      ).error
    }
    guard let survey = try firstLegSurvey() else { return nil }
    return survey.error(
      try survey.findings(connection, countingLosses: !migrator.allowsLoss || route.leadsBack),
      allowsLoss: migrator.allowsLoss, downgrade: migrator.downgrade)
  }

  private func firstLegSurvey() throws -> StoreSurvey? {
    guard let leg = route.legs.first, leg.isInferred else { return nil }
    return try StoreSurvey(store, through: leg.chain)
  }
}
