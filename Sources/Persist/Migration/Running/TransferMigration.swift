import Foundation

/// Migrates a store whose engine doesn't copy by itself: in a file, whose content then replaces the store's.
///
/// From the beginning of the copy to the end of the exchange, which is one transaction, nobody can write to the store.
/// If anything fails, the store is unchanged.
struct TransferMigration: ~Copyable {
  let url: URL
  let destination: ModelVersion
  let registry: ModelRegistry?
  let options: StoreOptions
  let migrator: AutomaticMigrator
  /// The survey that the decision to migrate was based on.
  let survey: PathSurvey
  let exclusion: any StoreExclusion

  private var location: StoreLocation { StoreLocation(url) }

  func run() throws -> MigrationReport {
    defer { exclusion.end() }
    guard try exclusion.isCurrent(survey.store.catalog) else {
      throw PersistenceError(
        .storeBusy, at: .store(url), "Another program migrated the store at the same time.", fix: "Try again.")
    }
    try refuseUnfitRows()
    let transfer = try migrator.progress.map { try progress($0) }
    let folder = try TemporaryFolder.make()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("Store.sqlite")
    try StoreCopies.replaceStore(
      at: .file(file), with: location, parked: .omitted, reporting: { try transfer?.read($0) })
    // The server's parked values stay on the server.
    let contents = try exclusion.changingParkedValues { try park(on: $0) }
    var copying = migrator
    copying.isTrial = true
    if !parksInFile { copying.parking = migrator.parking == .discarding ? .discarding : .none }
    copying.returning = survey.direct.parked
    copying.returning?.isElsewhere = true
    if let transfer { copying.progress = { transfer.reportMigration($0) } }
    var report = try copying.migrate(
      storeAt: file, to: destination, registry: registry, options: StoreOptions(busyTimeout: options.busyTimeout))
    try StoreCopies.withCopy(
      of: .file(file), beside: location, parked: .omitted,
      restoring: survey.direct.parked.names(in: destination.model),
      reporting: { rows, _ in try transfer?.write(rows) }, completing: { try transfer?.complete($0) }
    ) { copy, _ in
      try exclusion.replaceStore(withCopyAt: copy) { connection in
        if parksInFile { try addParkedValues(of: file, on: connection) }
        report.restored = try restore(on: connection)
      }
    }
    report.add(parked: contents, survey.direct.hop.comparison)
    return report
  }

  /// Whether the hops park in the file: what a stage or a mapping model leaves without a place, only the file shows.
  private var parksInFile: Bool { migrator.effectiveParking == .always && !survey.path.hops.allSatisfy(\.isPure) }

  /// Adds what the hops have parked to what was parked on the server.
  private func addParkedValues(of file: URL, on connection: any MigrationConnection) throws {
    try StoreLocation(file).inspect { inspector in
      try ParkedTransfer(registry).addParked(from: inspector, to: connection, destination.model)
    }
  }

  /// Parks what the new version has no place for.
  private func park(on connection: any MigrationConnection) throws -> [MigrationLoss] {
    let catalog = try connection.catalog()
    var parked = try ParkedValues(connection, registry: registry, catalog: catalog)
    try parked.dropTriggers(catalog.schema)
    guard migrator.effectiveParking != .discarding else {
      try parked.discard()
      return []
    }
    try parked.removeExpired(migrator.parkedLifetime, countingMigration: true)
    try parked.forgetReplaced(in: survey.store.tableMap, survey.path.source)
    try parked.collect { _, _ in true }
    guard migrator.effectiveParking == .always, !parksInFile else { return [] }
    let direct = survey.direct
    direct.planParkingOfLosses(registry)
    return try direct.parking.map { try parked.park($0) } ?? []
  }

  /// Restores what has a place in the new version.
  private func restore(on connection: any MigrationConnection) throws -> Int {
    let catalog = try connection.catalog()
    var parked = try ParkedValues(connection, registry: registry, catalog: catalog)
    parked.restrict(toSlotsUpTo: survey.slots.last)
    let map = catalog.tableMap(of: destination.model)
    let count = try parked.settle(in: map, destination, after: survey.direct.hop.comparison).count
    try survey.direct.verifyRestoredReferences(in: map, connection, url)
    return count
  }

  private func progress(_ report: @escaping AutomaticMigrator.ProgressHandler) throws -> TransferProgress {
    return try location.inspect(options: options) { inspector in
      let rows = try survey.store.approximateRowCount(inspector)
      let migration = WorkCost.of(Int64(survey.path.hops.count), each: try survey.costs(inspector).hop)
      return TransferProgress(report, of: url, rows: rows, migration: migration)
    }
  }

  /// Refuses rows of no entity, which the file wouldn't contain, and rows without required values to which nothing
  /// parked returns: the file doesn't show what is parked.
  private func refuseUnfitRows() throws {
    try location.inspect(options: options) { inspector in
      for unknown in survey.store.tableMap.unknownRows {
        try inspector.requireNone(unknown.count, else: unknown.blocker)
      }
      guard survey.comparisons != nil,
        let blocker = try survey.direct.findings(inspector, countingLosses: false).blockers.first
      else { return }
      throw blocker.error
    }
  }
}

/// The progress of a migration in a file elsewhere: reading the rows, migrating the file, and writing the rows.
private struct TransferProgress: Sendable {
  private let report: AutomaticMigrator.ProgressHandler
  private let url: URL
  private let rows: Int64
  /// The costs of reading all rows, of the migration, of writing them, and of what is left to do with the written ones.
  private let reading: Int64
  private let migration: Int64
  private let writing: Int64
  private let completion: Int64

  init(_ report: @escaping AutomaticMigrator.ProgressHandler, of url: URL, rows: Int64, migration: Int64) {
    self.report = report
    self.url = url
    self.rows = max(rows, 1)
    self.migration = max(1, migration)
    reading = max(1, WorkCost.of(rows, each: WorkCost.fetchedRow))
    writing = max(1, WorkCost.of(rows, each: WorkCost.sentRow))
    completion = WorkCost.of(rows, each: WorkCost.completedRow)
  }

  func read(_ count: Int) throws { try report(.objects, part(count, of: reading)) }

  func write(_ count: Int) throws { try report(.exchange, reading + migration + part(count, of: writing)) }

  func complete(_ fraction: Double) throws {
    try report(.exchange, reading + migration + writing + Int64(fraction * Double(completion)))
  }

  func reportMigration(_ progress: MigrationProgress) -> Bool {
    var progress = progress
    progress.completed = reading + Int64(progress.fraction * Double(migration))
    progress.total = total
    if progress.pass == .done { progress.pass = .validation }
    return report(progress)
  }

  private var total: Int64 { reading + migration + writing + completion }

  private func part(_ count: Int, of cost: Int64) -> Int64 {
    min(cost, Int64(Double(cost) * Double(count) / Double(rows)))
  }

  private func report(_ pass: MigrationProgress.Pass, _ completed: Int64) throws {
    let state = MigrationProgress(completed: completed, total: total, current: "", pass: pass)
    guard !report(state) else { return }
    throw PersistenceError(.migrationCancelled, at: .store(url), "The migration was canceled. The store is unchanged.")
  }
}
