import Foundation

/// Runs a migration in place.
///
/// Everything is decided and carried out in one transaction. A survey that was made without writing, so that a store
/// which is refused keeps every byte, holds as long as the store says the same of itself; its rows are looked at again.
struct InPlaceMigration {
  let url: URL
  let destination: ModelVersion
  let registry: ModelRegistry?
  let options: StoreOptions
  /// What is allowed, wanted and reported.
  let migrator: AutomaticMigrator
  /// The store as it was before others were kept away; nil for a file that nobody else has.
  var survey: StoreSurvey?
  /// The hop of a longer route that this is; nil for a whole route.
  var hop: (models: MigrationHop, reported: MigrationProgress.Hop)?
  /// Keeps other migrations away, and holds the record of files that go with the commit; nil for a hop, whose file is
  /// one of a longer route's own.
  var folder: WorkingFolder?
  private let start = ContinuousClock.now

  func run() throws -> MigrationReport {
    let connection = try SQLiteConnection(url, mode: .readWrite, options: options)
    defer { connection.close() }
    try connection.prepareForChanges()
    // Files that only the old version names go after the commit: that must not be lost when power fails.
    try connection.execute(.synchronousFull)
    var report = try connection.transaction {
      var files = LargeValueFiles(nil)
      let (report, logEntry) = try migrate(connection, &files)
      if let logEntry { try announceRemoval(of: files.replaced, logEntry) }
      return report
    }
    report.duration = ContinuousClock.now - start
    return report
  }

  /// Writes down which files go once the commit has come, so that they go even if this process doesn't live to see it.
  private func announceRemoval(of names: [String], _ logEntry: MigrationLogEntry) throws {
    guard !names.isEmpty, let folder else { return }
    try ExchangeRecord(logEntry: logEntry.propertyList, removed: names).write(in: folder.url)
  }

  /// - Returns: a report, and what the store's log says of the migration; nil where there was nothing to do, and for a
  ///   hop, which is logged with the whole.
  private func migrate(
    _ connection: SQLiteConnection, _ files: inout LargeValueFiles
  ) throws -> (MigrationReport, MigrationLogEntry?) {
    let survey = try currentSurvey(connection)
    var report = try report(survey, connection)
    // Another process may have been faster.
    guard !survey.isUpToDate else { return (report, nil) }
    let schemaVersion = try connection.schemaVersion
    for values in survey.work.forgotten {
      try connection.query(.fileNames(in: values.table, column: values.column, values.rows)) { row in
        files.replace(columnContent: row.data(0))
      }
    }
    let textIndexes = try survey.store.tableMap.fullTextIndexes.kept(by: connection)
    let logged = try hop == nil ? report.rows ?? survey.store.fewRows(connection) : nil
    try requireRoom(survey, connection)
    try carryOut(survey, connection)
    report.duration = ContinuousClock.now - start
    let logEntry = hop == nil ? MigrationLogEntry(report, rows: logged) : nil
    try record(survey, logEntry, connection)
    let map = try verify(survey.store, connection)
    try verifyRelationships(survey, map, connection)
    try connection.keepDerivedColumns(map.possibleDerivedColumns, in: map.layout)
    let rewritten = Set(survey.work.changes.flatMap { $0.change.tablesWithOtherRows.map(\.foldedIdentifier) })
    try connection.keepFullText(
      map.fullTextIndexes, trusting: textIndexes.filter { !rewritten.contains($0.table.foldedIdentifier) })
    // Other programs that have the store open notice the new model by it.
    if try connection.schemaVersion == schemaVersion { try connection.changeSchemaVersion() }
    return (report, logEntry)
  }

  /// - Throws: what stands in the way.
  private func currentSurvey(_ connection: SQLiteConnection) throws -> StoreSurvey {
    let known = try self.survey.flatMap { try $0.store.catalog.isCurrent(connection) ? $0 : nil }
    let survey = try known ?? newSurvey(connection)
    guard !survey.isUpToDate else { return survey }
    let findings = try survey.findings(connection, countingLosses: !migrator.allowsLoss || survey.leadsBack)
    if var error = survey.error(findings, allowsLoss: migrator.allowsLoss, downgrade: migrator.downgrade) {
      error.place.store = url
      throw error
    }
    return survey
  }

  private func newSurvey(_ connection: SQLiteConnection) throws -> StoreSurvey {
    let store = try StoreIdentification.identify(connection, registry: registry)
    return try hop.map { StoreSurvey(store, hop: $0.models, leadsBack: false) }
      ?? StoreSurvey(store, to: destination, registry: registry, defersWork: migrator.defersWork)
  }

  private func report(_ survey: StoreSurvey, _ connection: SQLiteConnection) throws -> MigrationReport {
    MigrationReport(
      from: survey.hop.source.name, to: destination.name, way: survey.isUpToDate ? .none : survey.way,
      hops: survey.isUpToDate ? 0 : 1,
      rows: migrator.countsRows ? try survey.store.rowsByTable(connection).values.reduce(0, +) : nil, duration: .zero)
  }

  // MARK: Writing

  private func carryOut(_ survey: StoreSurvey, _ connection: SQLiteConnection) throws {
    let changes = survey.work.changes
    let schema = survey.store.catalog.schema
    var tally = MigrationTally(
      try changes.map { try migrator.progress == nil ? 1 : weight(of: $0.change, schema, connection) },
      hop: hop?.reported ?? survey.hop.reported, report: migrator.progress)
    for change in changes {
      let question = tally.question(
        SQLText.statements(change.change).first?.text ?? "", entity: change.subject?.entity)
      guard question?(0) != false else { throw cancelled }
      do {
        try connection.whileGoingOn(rows: tally.weight, question) { try connection.apply(change.change) }
      } catch let error as PersistenceError where error.code == .interrupted {
        throw cancelled
      } catch let error as PersistenceError where [.sqlite, .constraintConflict].contains(error.code) {
        throw PersistenceError(
          .migrationFailed, at: error.place, "A statement of the migration failed, and the store stays as it was.",
          fix: error.fix, errors: [error])
      }
      tally.advance()
    }
    guard tally.question("", entity: nil)?(0) != false else { throw cancelled }
  }

  private var cancelled: PersistenceError {
    PersistenceError(.migrationCancelled, at: .store(url), "The migration was cancelled. The store is as it was.")
  }

  /// How many rows a change goes through, at most: the greatest key, which is found at once.
  private func weight(
    of change: SchemaChange, _ schema: StoreSchema, _ connection: SQLiteConnection
  ) throws -> Int64 {
    guard let table = change.writtenTable, schema.table(named: table) != nil else { return 1 }
    return 1 + (try connection.greatestRow(of: table))
  }

  /// Writes down which model the store has now, and how it came to it.
  private func record(
    _ survey: StoreSurvey, _ logEntry: MigrationLogEntry?, _ connection: SQLiteConnection
  ) throws {
    var metadata = survey.store.metadata
    metadata.deferredSteps = survey.work.deferred.compactMap { DeferredStep($0.change) }
    if let logEntry { metadata.log(logEntry) }
    let former = survey.leadsBack ? [] : [survey.hop.source] + survey.hop.skipped
    metadata.recordLineage(through: former.map(\.model), to: destination.model)
    try metadata.record(destination.model, coreDataHashes: destination.coreDataHashes, in: connection)
  }

  /// The store must now be what a store of the new model is; else nothing of this happened.
  ///
  /// - Returns: where everything stands now.
  private func verify(_ store: IdentifiedStore, _ connection: SQLiteConnection) throws -> TableMap {
    let catalog = try StoreCatalog(connection)
    let model = destination.model
    let numbers = EntityNumbers(model: model, rows: catalog.numberRows)
    let map = TableMap(model: model, numbers: numbers, schema: catalog.schema)
    let before = Set(store.tableMap.numbers.differences)
    let differences = numbers.differences.filter { !before.contains($0) } + map.differences
    guard differences.isEmpty else {
      throw PersistenceError(
        .migrationFailed, at: .store(url),
        "The store would not have become what the new model wants, and stays as it was: "
          + differences.joined(separator: " "), fix: "This is a defect of Persist; please report it with both models.")
    }
    return map
  }
}
