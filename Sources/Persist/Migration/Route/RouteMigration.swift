import Foundation

/// Runs a route that one transaction in the store's own file isn't enough for: leg by leg in files beside the store,
/// the last of which takes its place.
///
/// Nobody else writes to the store meanwhile, and readers go on reading. Until the exchange not a byte of it changes.
struct RouteMigration {
  let url: URL
  let destination: ModelVersion
  let means: MigrationMeans
  let options: StoreOptions
  let migrator: AutomaticMigrator

  func run() throws -> MigrationReport {
    let start = ContinuousClock.now
    let store = SQLiteFileName.resolved(url)
    let hold = try StoreHold(store, options: options)
    defer { hold.end() }
    // Another process may have been faster.
    let survey = try RouteSurvey(hold.connection, to: destination, means: means)
    guard !survey.isUpToDate else { return survey.report(rows: nil, way: .none) }
    if var error = try survey.error(hold.connection, migrator) {
      error.place.store = url
      throw error
    }
    let rows = try migrator.countsRows ? survey.rows(hold.connection) : nil
    let logged = try rows ?? survey.store.fewRows(hold.connection)
    // The old file of a leg goes when the next one is whole.
    try RoomCheck(besideStoreAt: store, copies: Double(min(2, survey.route.legs.count)))?.require(at: url)
    let folder = try WorkingFolder(besideStoreAt: store)
    defer { folder.remove() }
    let file = try migrate(
      store, through: survey.route, in: folder, rows: migrator.progress == nil ? 1 : survey.store.keys(hold.connection))
    var report = survey.report(rows: rows, way: .copy)
    report.duration = ContinuousClock.now - start
    // The file alone is the store.
    try MigrationLogEntry(report, rows: logged).write(toStoreAt: file, endingLog: true)
    try StoreExchange(
      store: store, tables: survey.store.tableMap, replacement: file, model: destination.model, folder: folder
    ).perform(hold)
    report.duration = ContinuousClock.now - start
    return report
  }

  /// - Parameter rows: about how many the store has.
  /// - Returns: the file after the last leg.
  private func migrate(
    _ store: URL, through route: MigrationRoute, in folder: WorkingFolder, rows: Int64
  ) throws -> URL {
    var file = store
    for (number, leg) in route.legs.enumerated() {
      let progress = progress(leg: number, of: route, rows: rows)
      // An error of a leg says between which versions it happened.
      try PersistError.placing({ $0.key = $0.key ?? "'\(leg.source.name)' to '\(leg.destination.name)'" }) {
        file = try migrate(file, through: leg, number, store, folder, route.hop(ofLeg: number), progress)
      }
    }
    try tell(.exchange, progress(leg: route.legs.count, of: route, rows: rows))
    return file
  }

  private func migrate(
    _ given: URL, through leg: MigrationRoute.Leg, _ number: Int, _ store: URL, _ folder: WorkingFolder,
    _ hop: MigrationProgress.Hop, _ progress: AutomaticMigrator.ProgressHandler?
  ) throws -> URL {
    var file = given
    if let block = leg.before {
      file = try own(file, store, folder, number)
      try call(block, file, leg.source, progress)
    }
    switch leg.way {
    case .inPlace:
      file = try own(file, store, folder, number)
      try migrateInPlace(file, leg, hop, progress)
    case .mapping(let mapping):
      let next = try folder.file(number * 2 + 1)
      let manager = migrator.makeManager(leg.source.model, leg.destination.model)
      manager.progress = progress
      try manager.migrateStore(
        from: file, to: next, mappingModel: mapping, policies: means.policies,
        coreDataHashes: leg.destination.coreDataHashes)
      if file != store { try StoreFiles(storeAt: file).delete() }
      file = next
    }
    if let block = leg.after { try call(block, file, leg.destination, progress) }
    return file
  }

  /// A file that may be changed: a copy, where it is still the store itself.
  private func own(_ file: URL, _ store: URL, _ folder: WorkingFolder, _ number: Int) throws -> URL {
    guard file == store else { return file }
    let copy = try folder.file(number * 2)
    let connection = try SQLiteConnection(store, mode: .readOnly)
    defer { connection.close() }
    try connection.copyDatabase(to: copy)
    try LargeValueLinks(from: ExternalDataFolder(storeAt: store), to: ExternalDataFolder(storeAt: copy)).make()
    return copy
  }

  private func migrateInPlace(
    _ file: URL, _ leg: MigrationRoute.Leg, _ hop: MigrationProgress.Hop,
    _ progress: AutomaticMigrator.ProgressHandler?
  ) throws {
    _ = try InPlaceMigration(
      url: file, destination: leg.destination, registry: ModelRegistry(versions: leg.versions), options: options,
      allowsLoss: migrator.allowsLoss, downgrade: migrator.downgrade, countsRows: false, progress: progress, hop: hop
    ).run()
  }

  /// Calls a stage's block with the store at a version, and saves what it did.
  private func call(
    _ block: StagedMigration.Block, _ file: URL, _ version: ModelVersion, _ progress: AutomaticMigrator.ProgressHandler?
  ) throws {
    try tell(.stage, progress)
    let coordinator = PersistentStoreCoordinator(model: version.model)
    let info = try coordinator.addStore(at: file)
    do {
      let context = ManagedObjectContext(
        coordinator,
        classes: Dictionary(uniqueKeysWithValues: version.model.entities.map { ($0.name, ManagedObject.self) }))
      try block(context)
      try context.save()
    } catch {
      try coordinator.remove(info)
      throw error
    }
    try coordinator.remove(info)
  }

  // MARK: Progress

  /// The progress of one leg as a part of the whole. Each counts for the rows that the store has now; how many it will
  /// have at a later version isn't known.
  private func progress(
    leg number: Int, of route: MigrationRoute, rows: Int64
  ) -> AutomaticMigrator.ProgressHandler? {
    guard let handler = migrator.progress else { return nil }
    let hop = route.hop(ofLeg: min(number, route.legs.count - 1))
    let count = Int64(max(route.legs.count, 1))
    return { state in
      var state = state
      state.completed = Int64(number) * rows + Int64(state.fraction * Double(rows))
      state.total = count * rows
      state.hop = hop
      if state.pass == .done { state.pass = .validation }
      return handler(state)
    }
  }

  /// - Throws: ``PersistError/Code/migrationCancelled`` where that is the answer.
  private func tell(_ pass: MigrationProgress.Pass, _ progress: AutomaticMigrator.ProgressHandler?) throws {
    guard progress?(MigrationProgress(completed: 0, total: 1, current: "", pass: pass)) == false else { return }
    throw PersistError(.migrationCancelled, at: .store(url), "The migration was cancelled. The store is as it was.")
  }
}

extension MigrationRoute.Leg {
  /// Every version that the leg goes through.
  var versions: [ModelVersion] {
    chain.hops.isEmpty ? [source, destination] : [source] + chain.hops.map(\.destination)
  }
}
