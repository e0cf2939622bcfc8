/// A store looked at with a new version in mind: the way there, the work, and what its rows have to say.
struct StoreSurvey {
  /// What was counted.
  struct Findings {
    var blockers: [MigrationBlocker] = []
    /// Losses that really are; a loss of no rows isn't among them.
    var losses: [MigrationLoss] = []
  }

  let store: IdentifiedStore
  let chain: MigrationChain
  let map: TableMap
  let work: InPlaceWork

  init(
    _ store: IdentifiedStore, to destination: ModelVersion, registry: ModelRegistry?, defersWork: Bool = false
  ) throws {
    let name = store.model.versionIdentifiers.first { !$0.isEmpty } ?? "the store's own model"
    let source = store.version ?? ModelVersion(name: name, model: store.model)
    let chain = try MigrationChain(
      from: source, to: destination, registry: registry, isNewer: store.isNewer(than: destination.model))
    try self.init(store, through: chain, defersWork: defersWork)
  }

  /// - Parameter chain: begins at the store's version.
  init(_ store: IdentifiedStore, through chain: MigrationChain, defersWork: Bool = false) throws {
    self.store = store
    self.chain = chain
    map = store.tableMap
    work = InPlacePlanner.plan(
      from: map, schema: store.catalog.schema, to: .forNewStore(chain.destination.model),
      comparison: chain.comparison,
      canDropColumns: SQLiteConnection.canDropColumns, defersWork: defersWork)
  }

  /// Whether the store is of the new version already, as far as a store can tell.
  var isUpToDate: Bool {
    store.model === chain.destination.model
      || store.model.fingerprints == chain.destination.model.fingerprints && work.changes.isEmpty
        && work.deferred.isEmpty
  }

  var way: MigrationWay { MigrationPlan(chain, work: work).way }

  /// A model that has nothing of the store's in it, and isn't known as a version of the same, is another application's.
  private var strangerBlocker: MigrationBlocker? {
    guard !chain.isOfOneFamily, chain.comparison.correspondence.entities.isEmpty, !store.model.entities.isEmpty,
      !chain.destination.model.entities.isEmpty
    else { return nil }
    return MigrationBlocker(
      .incompatibleModel,
      what: "No entity of '\(chain.destination.name)' is one of the store's, or comes from one of them.",
      fix: "Check that the store and the model belong together.")
  }

  /// - Parameter countingLosses: whether to count what goes; blockers are looked for in any case.
  func findings(_ connection: SQLiteConnection, countingLosses: Bool) throws -> Findings {
    var findings = Findings(blockers: chain.blockers)
    findings.blockers += work.blockers + [strangerBlocker].compactMap { $0 }
    guard findings.blockers.isEmpty, map.differences.isEmpty else {
      findings.blockers += map.differences.map { difference in
        MigrationBlocker(
          .storeDamaged, what: "The store isn't whole: \(difference)",
          fix: "'persist check' says what is wrong with it.")
      }
      return findings
    }
    for check in work.checks {
      switch check.meaning {
      case .blocker(var blocker):
        let count = try connection.count(check.count)
        guard count > 0 else { continue }
        blocker.what += ": \(count)."
        findings.blockers.append(blocker)
      case .loss(var loss):
        guard countingLosses else { continue }
        loss.rows = try connection.count(check.count)
        if let rows = loss.rows, rows > 0 { findings.losses.append(loss) }
      }
    }
    return findings
  }

  /// Why the migration can't be; nil where it can.
  func error(_ findings: Findings, allowsLoss: Bool, downgrade: AutomaticMigrator.Downgrade) -> PersistError? {
    var blockers = findings.blockers
    if let back = backBlocker(findings, downgrade) { blockers.insert(back, at: 0) }
    if !allowsLoss {
      blockers += findings.losses.map { loss in
        MigrationBlocker(
          .migrationFailed, entity: loss.entity, property: loss.property, what: "\(loss) would be lost.",
          fix: "Allow the loss (`--allow-loss`, `allowsLoss`), or keep what goes in the new model.")
      }
    }
    guard !blockers.isEmpty else { return nil }
    return MigrationPlan(
      from: chain.source.name, to: chain.destination.name, way: .impossible, blockers: blockers
    ).error
  }

  /// Why a store of a newer version doesn't go back; nil where it does, or isn't newer.
  func backBlocker(_ findings: Findings, _ downgrade: AutomaticMigrator.Downgrade) -> MigrationBlocker? {
    guard chain.leadsBack else { return nil }
    let what = "The store has the newer version '\(chain.source.name)'"
    let program = "Open it with a program that knows '\(chain.source.name)'"
    guard findings.blockers.isEmpty else {
      return MigrationBlocker(
        .newerStore, what: "\(what), and there is no way back to '\(chain.destination.name)'.",
        fix: "\(program), or give the step back a mapping model.")
    }
    if downgrade == .withLoss { return nil }
    guard findings.losses.isEmpty else {
      let losses = findings.losses.map(\.description).joined(separator: "; ")
      return MigrationBlocker(
        .newerStore, what: "\(what); going back to '\(chain.destination.name)' would lose values: \(losses).",
        fix: "\(program), or allow the loss (`--allow-loss`, `downgrade: .withLoss`).")
    }
    guard downgrade == .refused else { return nil }
    return MigrationBlocker(
      .newerStore, what: "\(what) than '\(chain.destination.name)'.",
      fix: "\(program), or bring it back, by which nothing is lost (`.allowingDowngrade`).")
  }
}
