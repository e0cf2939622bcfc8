package import Foundation

/// Runs a migration in place.
///
/// All decisions and changes are made in one transaction. A survey made earlier without writing, so that a rejected
/// store isn't changed, is reused if the store's catalog is still the same. The rows are checked again: in a file
/// before the transaction, which keeps others from writing, and in it only if others have written in between.
package struct InPlaceMigration: ~Copyable {
  let url: URL
  let destination: ModelVersion
  let registry: ModelRegistry?
  let options: StoreOptions
  /// The permissions and options, and the progress handler.
  let migrator: AutomaticMigrator
  /// The survey made before the transaction began; nil for a file that no other process uses.
  var survey: StoreSurvey?
  /// Whether the connection guarantees that nothing has changed since the survey, so that the rows need not be checked
  /// again.
  var isSurveyCurrent = false
  /// The number of the state in which the connection has found that the rows of the survey fit; nil if it hasn't.
  var checkedState: Int64?
  package enum LoggedRows {
    /// The rows are counted, if that is quick.
    case counted
    /// The number before the transaction began; nil if unknown.
    case known(Int?)
  }
  /// The number of rows for the log.
  package var loggedRows = LoggedRows.counted
  /// The model whose values stand in for parked ones, and its layout; nil for the store's model.
  package var standIns: (map: TableMap, version: ModelVersion)?
  /// The hop of a longer path, and whether that leads to an older version; nil for a whole path.
  var hop: (models: MigrationHop, isDowngrade: Bool, reported: MigrationProgress.Hop)?
  /// Prevents concurrent migrations, and contains the record of files to remove after the commit; nil for a hop, whose
  /// file belongs to a longer path.
  var workspace: (any MigrationWorkspace)?
  /// Compares both ways on copies of the store, called before anything is written; nil for no comparison.
  var proof: (() throws -> MigrationProof?)?
  let start = ContinuousClock.now

  var location: StoreLocation { StoreLocation(url) }

  consuming func run() throws -> MigrationReport {
    let connection = try location.engine.connect(to: location, options: options)
    defer { connection.close() }
    return try run(on: connection)
  }

  /// Runs the migration on a connection, which the caller closes.
  package mutating func run(on connection: any MigrationConnection) throws -> MigrationReport {
    try connection.prepareForMigration()
    checkedState = try checkRows(connection)
    var report = try connection.transaction { try runInTransaction(of: connection) }
    report.duration = ContinuousClock.now - start
    return report
  }

  /// Runs the migration on a connection that is prepared for it, within its transaction.
  package func runInTransaction(of connection: any MigrationConnection) throws -> MigrationReport {
    var files: [String] = []
    let (report, logEntry) = try applyChanges(connection, &files)
    if let logEntry, !files.isEmpty {
      try workspace?.announceRemoval(of: files, after: logEntry.propertyList)
    }
    return report
  }

  /// Checks the rows while others can write.
  ///
  /// - Returns: The number of the state from before the check; nil if there is none to compare with.
  private func checkRows(_ connection: any MigrationConnection) throws -> Int64? {
    guard let survey, !isSurveyCurrent, !survey.isUpToDate, let state = connection.stateNumber,
      try connection.isCurrent(survey.store.catalog)
    else { return nil }
    do {
      try requirePossible(survey, connection)
    } catch {
      // Another process may be migrating the store. The transaction waits for it, and then finds what is true.
      guard try connection.isCurrent(survey.store.catalog), connection.stateNumber == state else { return nil }
      throw error
    }
    return state
  }

  private func rowsForLog(_ survey: StoreSurvey, _ connection: any MigrationConnection) throws -> Int? {
    switch loggedRows {
    case .counted: try survey.store.affordableRowCount(connection)
    case .known(let rows): rows
    }
  }

  /// - Parameter files: the large values that only the old version refers to.
  /// - Returns: a report, and the entry of the store's migration log; nil if there was nothing to do, and for a hop,
  ///   which is logged as part of the whole.
  private func applyChanges(
    _ connection: any MigrationConnection, _ files: inout [String]
  ) throws -> (MigrationReport, MigrationLogEntry?) {
    let survey = try currentSurvey(connection)
    var report = try report(survey, connection)
    // Another process may have migrated the store first.
    guard !survey.isUpToDate else { return (report, nil) }
    // Another process has just migrated the store; the next attempt converts its rows first.
    guard !survey.store.metadata.hasConversions else { throw converting }
    let bytes = try writtenBytes(survey, connection)
    var tally = try progress(survey, writing: bytes, connection)
    try requireContinuing(tally.question("", entity: nil))
    if !isChecked(connection) { try requirePossible(survey, connection) }
    report.proof = try proof?()
    let schemaVersion = try connection.schemaVersion
    for values in survey.work.forgotten {
      files += try connection.largeValueNames(in: values.table, column: values.column, values.rows)
    }
    let textIndexes = try connection.intactFullTextIndexes(among: survey.map.fullTextIndexes)
    let logged = try hop == nil ? report.rows ?? rowsForLog(survey, connection) : nil
    try requireDiskSpace(bytes)
    tally.begin()
    var parked = try ParkedValues(connection, registry: registry, catalog: survey.store.catalog)
    report.add(parked: try prepareParking(&parked, survey), survey.hop.comparison)
    try carryOut(survey, &tally, on: connection)
    report.duration = ContinuousClock.now - start
    let logEntry = hop == nil ? MigrationLogEntry(report, rows: logged) : nil
    try record(survey, logEntry: logEntry, on: connection)
    let (catalog, map) = try verify(survey, connection)
    let restored = try hop == nil
      ? settle(&parked, after: survey, in: map, schema: catalog.schema) : (count: 0, tables: [], redundant: 0)
    report.restored = restored.count
    report.parked -= min(restored.redundant, report.parked)
    try verifyRelationships(survey, in: map, on: connection)
    try verifyRestoredReferences(survey, in: map, on: connection)
    if hop == nil {
      let renames = PropertyRenames(survey.hop.comparison)
      try connection.recordMigrationInHistory(from: survey.map, to: map, renames: renames)
    }
    // No trigger fired, those of Core Data included, which compute differences.
    let inputs = survey.work.changes.flatMap(\.change.tablesWithOtherValues) + restored.tables
    try connection.updateDerivedTriggers(
      map.possibleDerivedColumns, in: map.layout, after: Set(inputs.map(\.foldedIdentifier)))
    let changed = survey.work.changes.flatMap(\.change.tablesWithOtherRows) + restored.tables
    let rewritten = Set(changed.map(\.foldedIdentifier))
    try connection.updateFullTextIndexes(
      map.fullTextIndexes, trusting: textIndexes.filter { !rewritten.contains($0.table.foldedIdentifier) })
    try connection.begin(survey.work.conversions)
    tally.beginCommit()
    try requireContinuing(tally.question("", entity: nil))
    let newVersion = try connection.schemaVersion
    // Lets other programs that have the store open notice the new model.
    if newVersion == schemaVersion { try connection.changeSchemaVersion() }
    if hop == nil, newVersion == catalog.mark.schemaVersion {
      try connection.recordLayout(map, catalog, planned: survey.planned)
    }
    return (report, logEntry)
  }

  /// Whether nobody has written since the rows of the survey were checked.
  private func isChecked(_ connection: any MigrationConnection) -> Bool {
    checkedState != nil && checkedState == connection.stateNumber
  }

  private func currentSurvey(_ connection: any MigrationConnection) throws -> StoreSurvey {
    if isSurveyCurrent || isChecked(connection), let survey { return survey }
    let known = try self.survey.flatMap { try connection.isCurrent($0.store.catalog) ? $0 : nil }
    return try known ?? newSurvey(connection)
  }

  /// - Throws: the obstacles to the migration.
  private func requirePossible(_ survey: StoreSurvey, _ connection: any MigrationConnection) throws {
    guard !isSurveyCurrent || self.survey == nil else { return }
    let findings = try survey.findings(connection, countingLosses: !migrator.allowsLoss || survey.isDowngrade)
    if var error = survey.error(findings, allowsLoss: migrator.allowsLoss, downgrade: migrator.downgrade) {
      error.place.store = url
      throw error
    }
  }

  package func newSurvey(_ connection: any MigrationConnection) throws -> StoreSurvey {
    if let hop {
      let survey = StoreSurvey(
        try connection.identify(among: registry), hop: hop.models, isDowngrade: hop.isDowngrade)
      if migrator.effectiveParking == .always { survey.planParkingOfLosses(registry) }
      return survey
    }
    // The caller has checked that the migration is possible in place.
    return try PathSurvey(connection, to: destination, resources: migrator.inPlaceResources(registry)).direct
  }

  private func report(_ survey: StoreSurvey, _ connection: any MigrationConnection) throws -> MigrationReport {
    MigrationReport(
      from: survey.hop.source.name, to: destination.name, way: survey.isUpToDate ? .none : survey.way,
      hops: survey.isUpToDate ? 0 : 1,
      rows: migrator.countsRows ? try survey.store.rowsByTable(connection).values.reduce(0, +) : nil, duration: .zero)
  }

  // MARK: Writing

  private func carryOut(
    _ survey: StoreSurvey, _ tally: inout InPlaceProgress, on connection: any MigrationConnection
  ) throws {
    let changes = survey.work.changes
    try connection.lockTables(for: changes.map(\.change), to: survey.planned)
    for change in changes {
      let question = tally.question(
        change.change.shownStatements(survey.work.names).first ?? "", entity: change.subject?.entity)
      try requireContinuing(question)
      do {
        let part = tally.part
        try connection.reportingProgress(rows: part.rows, indexes: part.indexes, question) {
          try connection.apply(change.change)
        }
      } catch let error as PersistenceError where error.code == .interrupted {
        throw cancelled
      } catch let error as PersistenceError where [.sqlite, .serverFailed, .constraintConflict].contains(error.code) {
        throw PersistenceError(
          .migrationFailed, at: error.place, "A statement of the migration failed. The store is unchanged.",
          fix: error.fix, errors: [error])
      }
      tally.advance()
    }
    tally.beginCompletion()
    try requireContinuing(tally.question("", entity: nil))
  }

  /// - Throws: ``PersistenceError/Code/migrationCancelled`` if the answer to a question, if there is one, is no.
  private func requireContinuing(_ question: ((Int64) -> Bool)?) throws {
    guard question?(0) != false else { throw cancelled }
  }

  private var converting: PersistenceError {
    PersistenceError(
      .storeBusy, at: .store(url), "Rows of an earlier migration are being converted.", fix: "Try again.")
  }

  private var cancelled: PersistenceError {
    PersistenceError(.migrationCancelled, at: .store(url), "The migration was canceled. The store is unchanged.")
  }

  /// Records the store's new model, and the migration.
  private func record(
    _ survey: StoreSurvey, logEntry: MigrationLogEntry?, on connection: any MigrationConnection
  ) throws {
    var metadata = survey.store.metadata
    metadata.placeNames = survey.planned.placeNames
    metadata.deferredSteps =
      survey.work.conversions.map(DeferredStep.init) + survey.work.deferred.compactMap { DeferredStep($0.change) }
    if let logEntry { metadata.log(logEntry) }
    let former = survey.isDowngrade ? [] : [survey.hop.source] + survey.hop.skipped
    metadata.recordLineage(through: former.map(\.model), to: destination.model)
    try connection.record(metadata, model: destination.model, coreDataHashes: destination.coreDataHashes)
  }

  /// Verifies that the store matches the new model; otherwise the transaction is rolled back.
  ///
  /// - Returns: the store's new catalog, and its new layout.
  private func verify(
    _ survey: StoreSurvey, _ connection: any MigrationConnection
  ) throws -> (StoreCatalog, TableMap) {
    let catalog = try connection.catalog(knowing: survey.store.catalog.schema)
    let model = destination.model
    let numbers = EntityNumbers(model: model, rows: catalog.numberRows)
    let map = TableMap(
      model: model, numbers: numbers, schema: catalog.schema, placeNames: survey.planned.placeNames)
    let before = Set(survey.map.numbers.differences)
    let differences = numbers.differences.filter { !before.contains($0) } + map.differences
    guard differences.isEmpty else {
      throw PersistenceError(
        .migrationFailed, at: .store(url),
        "The migrated store wouldn't have matched the new model, so the migration was rolled back: "
          + differences.joined(separator: " "), fix: "This is a defect of Persist; please report it with both models.")
    }
    return (catalog, map)
  }
}

extension InPlaceMigration {
  /// A migration of a store that no other process changes meanwhile.
  ///
  /// - Parameter survey: A survey in the same transaction; nil to make one.
  package init(
    ofUnusedStoreAt url: URL, to destination: ModelVersion, registry: ModelRegistry?,
    options: StoreOptions = StoreOptions(), migrator: AutomaticMigrator = AutomaticMigrator(),
    survey: StoreSurvey? = nil
  ) {
    self.init(
      url: url, destination: destination, registry: registry, options: options, migrator: migrator, survey: survey,
      isSurveyCurrent: survey != nil)
  }
}
