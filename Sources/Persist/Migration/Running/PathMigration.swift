import Foundation

/// Runs a path that a single transaction in the store's own file can't execute: hop by hop in files beside the store,
/// the last of which replaces its content.
///
/// Other connections can't write to the store during the migration, but they can read. Until the exchange, the store
/// isn't changed.
struct PathMigration: ~Copyable {
  let url: URL
  let destination: ModelVersion
  let resources: MigrationResources
  let options: StoreOptions
  let migrator: AutomaticMigrator
  /// The workspace that contains the hops' files.
  let workspace: any MigrationWorkspace

  var engine: any MigrationEngine { get throws { try location.engine } }
  private var location: StoreLocation { StoreLocation(url) }

  func run() throws -> MigrationReport {
    let start = ContinuousClock.now
    let hold = try workspace.hold(options: options)
    defer { hold.end() }
    let inspector = hold.inspector
    // Another process may have migrated the store first.
    let survey = try PathSurvey(inspector, to: destination, resources: resources)
    guard !survey.isUpToDate else { return survey.report(rows: nil, way: .none) }
    let size = try engine.size(of: location)
    let progress = migrator.progress.map { PathProgress($0, through: survey.path, exchanging: size) }
    if let progress, try !progress.begin(survey.costs(inspector)) { throw cancelled }
    if var error = try survey.error(inspector, migrator, reading: nil) {
      error.place.store = url
      throw error
    }
    let rows = try migrator.countsRows ? survey.rows(inspector) : nil
    let logged = try rows ?? survey.store.affordableRowCount(inspector)
    let space = ExtraSpace.copies(survey.path.simultaneousCopies, ofSize: size)
    try engine.requireDiskSpace(for: location, bytes: space)
    let (file, parked) = try runHops(workspace.store, through: survey, progress)
    let restored = try restoreParkedValues(in: file, survey)
    if !survey.determinesValues {
      try migrator.requireReadable(destination.model, at: file, reportedAs: url, options: options)
    }
    var report = survey.report(rows: rows, way: .copy)
    report.restored = restored
    for part in parked { report.add(parked: part.contents, part.comparison) }
    report.duration = ContinuousClock.now - start
    let logEntry = MigrationLogEntry(report, rows: logged)
    try engine.changeMetadata(of: StoreLocation(file), completingFile: true) { $0.log(logEntry) }
    try hold.replaceContent(
      of: survey.store.tableMap, by: file, model: destination.model, logEntry: logEntry.propertyList
    ) { fraction in
      guard progress?.exchange(fraction) != false else { throw cancelled }
    }
    report.duration = ContinuousClock.now - start
    return report
  }

  /// - Returns: the file after the last hop, and what the hops have parked.
  private func runHops(
    _ store: URL, through survey: PathSurvey, _ whole: PathProgress?
  ) throws -> (URL, parked: [PathWork.Parked]) {
    let path = survey.path
    var work = PathWork(
      store: store, survey: survey.direct, file: try forgettingReplacedValues(of: store, survey),
      history: FollowedHistory(map: survey.store.tableMap))
    for (number, hop) in path.hops.enumerated() {
      let step = PathStep(
        hop: hop, number: number, reported: path.reportedHop(number), progress: whole?.handler(hop: number))
      // Adds the hop's versions to the error.
      let names = [hop.source, hop.destination].map { ModelVersion.quoted($0.name) }
      try PersistenceError.placing({ $0.key = $0.key ?? names.joined(separator: " to ") }) {
        try run(step, &work)
      }
    }
    try work.history.follow(in: work.file, engine)
    guard whole?.exchange(0) != false else { throw cancelled }
    return (work.file, work.parked)
  }

  private func run(_ step: borrowing PathStep, _ work: inout PathWork) throws {
    let hop = step.hop
    if let block = hop.before {
      work.file = try own(work.file, for: work.store, number: step.number)
      try work.history.follow(in: work.file, engine)
      try call(block, on: work.file, of: hop.source, progress: step.progress)
    }
    switch hop.method {
    case .inPlace:
      work.file = try own(work.file, for: work.store, number: step.number)
      work.parked.append((try runInPlace(work.file, step, isDowngrade: work.survey.isDowngrade), hop.comparison))
    case .mapping(let mapping):
      // The store's own rows were checked before the first hop.
      if step.number > 0 || hop.before != nil {
        try requirePossible(hop, by: mapping, in: work.file, whole: work.survey)
      }
      if hop.isInferred {
        work.parked.append((try parkLosses(of: hop, in: &work.file, work.store, step.number), hop.comparison))
      }
      let next = try workspace.file(step.number * 2 + 1)
      let manager = migrator.makeManager(hop.source.model, hop.destination.model)
      manager.progress = step.progress
      manager.parked = work.survey.parked
      try manager.migrateStore(
        from: work.file, to: next, mappingModel: mapping, policies: resources.policies,
        coreDataHashes: hop.destination.coreDataHashes)
      if migrator.effectiveParking != .discarding {
        try engine.copyParkedValues(from: StoreLocation(work.file), to: StoreLocation(next))
      }
      if work.file != work.store { try engine.destroyStore(at: StoreLocation(work.file)) }
      work.file = next
    }
    work.history.hops.append(hop)
    if let block = hop.after {
      try work.history.follow(in: work.file, engine)
      try call(block, on: work.file, of: hop.destination, progress: step.progress)
    }
  }

  /// Returns a file that may be changed: the given one, or a copy if that is still the store itself.
  func own(_ file: URL, for store: URL, number: Int) throws -> URL {
    guard file == store else { return file }
    let copy = try workspace.file(number * 2)
    try engine.duplicate(StoreLocation(store), to: StoreLocation(copy))
    return copy
  }

  /// - Throws: the obstacles to a hop in rows that previous hops or a stage created, and losses that aren't allowed.
  private func requirePossible(
    _ hop: MigrationHop, by mapping: MappingModel, in file: URL, whole: StoreSurvey
  ) throws {
    let countsLosses = !migrator.allowsLoss || whole.isDowngrade
    let findings: StoreSurvey.Findings = try StoreLocation(file).inspect { inspector in
      if hop.isInferred {
        let store = try inspector.identify(among: ModelRegistry(versions: [hop.source, hop.destination]))
        return try StoreSurvey(store, hop: hop).findings(inspector, countingLosses: countsLosses)
      }
      guard countsLosses else { return StoreSurvey.Findings() }
      let map = try inspector.catalog().tableMap(of: hop.source.model)
      return StoreSurvey.Findings(
        losses: try MigrationPath.losses(of: mapping, in: hop, resources: resources, in: map, inspector: inspector),
        canParkLosses: false)
    }
    let error = whole.error(findings, allowsLoss: migrator.allowsLoss, downgrade: migrator.downgrade)
    if let error { throw error }
  }

  /// Migrates a file in the working folder, where no other process migrates and nothing is kept unless the whole
  /// succeeds.
  private func runInPlace(_ file: URL, _ step: borrowing PathStep, isDowngrade: Bool) throws -> [MigrationLoss] {
    let hop = step.hop
    var migrator = migrator
    (migrator.countsRows, migrator.progress) = (false, step.progress)
    return try InPlaceMigration(
      url: file, destination: hop.destination, registry: ModelRegistry(versions: [hop.source, hop.destination]),
      options: options, migrator: migrator, hop: (hop, isDowngrade, step.reported)
    ).run().parkedContents
  }

  /// Calls a stage's block with the store at a version, and saves its changes.
  private func call(
    _ block: StagedMigration.Block, on file: URL, of version: ModelVersion, progress: AutomaticMigrator.ProgressHandler?
  ) throws {
    try report(.stage, progress)
    let coordinator = PersistentStoreCoordinator(model: version.model)
    let info = try coordinator.addStore(at: file)
    do {
      let type = migrator.staged?.objectClass ?? ManagedObject.self
      let context = ManagedObjectContext(
        coordinator,
        classes: Dictionary(uniqueKeysWithValues: version.model.entities.map { ($0.name, type) }))
      try block(context)
      try context.save()
    } catch {
      try coordinator.remove(info)
      throw error
    }
    try coordinator.remove(info)
  }

  // MARK: Progress

  /// - Throws: ``PersistenceError/Code/migrationCancelled`` if the handler cancels the migration.
  private func report(_ pass: MigrationProgress.Pass, _ progress: AutomaticMigrator.ProgressHandler?) throws {
    guard progress?(MigrationProgress(completed: 0, total: 1, current: "", pass: pass)) == false else { return }
    throw cancelled
  }

  private var cancelled: PersistenceError {
    PersistenceError(.migrationCancelled, at: .store(url), "The migration was canceled. The store is unchanged.")
  }
}

/// A hop at its place in a path.
private struct PathStep: ~Copyable {
  let hop: MigrationHop
  let number: Int
  let reported: MigrationProgress.Hop
  let progress: AutomaticMigrator.ProgressHandler?
}

/// The state between the hops of a path.
private struct PathWork {
  let store: URL
  /// The survey of the store for the last version.
  let survey: StoreSurvey
  /// The file of the last hop, at first the store itself.
  var file: URL
  var history: FollowedHistory
  /// The values that the hops have parked. What looks like a rename is judged by the versions of the hop: a stage may
  /// have computed new values from the parked ones.
  var parked: [Parked] = []

  typealias Parked = (contents: [MigrationLoss], comparison: ModelComparison)
}

/// The history of a file on its path: the version that it follows, and the hops since.
///
/// A stage opens the file between two hops. The history has to follow the hops before, because opening the file would
/// otherwise adapt it as after a migration whose renames aren't known.
private struct FollowedHistory {
  /// The layout to which the history refers.
  private var map: TableMap
  var hops: [MigrationHop] = []

  init(map: TableMap) { self.map = map }

  /// Adapts the history to the last version.
  mutating func follow(in file: URL, _ engine: any MigrationEngine) throws {
    guard let model = hops.last?.destination.model else { return }
    let location = StoreLocation(file)
    try engine.recordMigrationInHistory(of: location, from: map, to: model, renames: PropertyRenames(hops))
    map = try location.inspect { try $0.catalog().tableMap(of: model) }
    hops = []
  }
}
