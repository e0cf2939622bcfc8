import Foundation

/// Runs a migration in place.
///
/// The store is looked at without writing first, so that one which is refused keeps every byte. Then everything is read
/// and decided again, and carried out, in one transaction.
struct InPlaceMigration {
  let url: URL
  let destination: ModelVersion
  let registry: ModelRegistry?
  let options: StoreOptions
  let allowsLoss: Bool
  let downgrade: AutomaticMigrator.Downgrade
  let countsRows: Bool
  var defersWork = false
  let progress: AutomaticMigrator.ProgressHandler?
  /// Which hop of a longer way this is; nil for a whole way.
  var hop: MigrationProgress.Hop?
  private let start = ContinuousClock.now

  func run() throws -> MigrationReport {
    if let report = try preview() { return report }
    let connection = try SQLiteConnection(url, mode: .readWrite, options: options)
    defer { connection.close() }
    try connection.prepareForChanges()
    // Files that only the old version names go after the commit: that must not be lost when power fails.
    try connection.execute(.synchronousFull)
    var unnamed: WorkingFolder?
    // Where the commit came, no row names them any more; else nothing goes.
    defer { unnamed?.remove() }
    var report = try connection.transaction {
      var files = LargeValueFiles(nil)
      let report = try migrate(connection, &files)
      unnamed = try announceRemoval(of: files.replaced)
      return report
    }
    report.duration = ContinuousClock.now - start
    return report
  }

  /// Refuses what can't be.
  ///
  /// - Returns: a report where there is nothing to do.
  private func preview() throws -> MigrationReport? {
    let connection = try SQLiteConnection(url, mode: .readOnly, options: options)
    defer { connection.close() }
    return try connection.readTransaction {
      let survey = try survey(connection)
      return survey.isUpToDate ? try report(survey, connection) : nil
    }
  }

  /// Writes down which files go once the commit has come, so that they go even if this process doesn't live to see it.
  private func announceRemoval(of names: [String]) throws -> WorkingFolder? {
    guard !names.isEmpty else { return nil }
    let folder = try WorkingFolder(besideStoreAt: SQLiteFileName.resolved(url))
    let decision = ExchangeRecord.Decision.commit(destination.model.fingerprints.mapValues(\.bytes))
    try ExchangeRecord(decision, removed: names).write(in: folder.url)
    return folder
  }

  private func migrate(_ connection: SQLiteConnection, _ files: inout LargeValueFiles) throws -> MigrationReport {
    let survey = try survey(connection)
    var report = try report(survey, connection)
    // Another process may have been faster.
    guard !survey.isUpToDate else { return report }
    for values in survey.work.forgotten {
      try connection.query(.fileNames(in: values.table, column: values.column, values.rows)) { row in
        files.replace(columnContent: row.data(0))
      }
    }
    let textIndexes = try survey.store.tableMap.fullTextIndexes.kept(by: connection)
    // A hop of a longer way is logged with the whole.
    let logged = try hop == nil ? report.rows ?? survey.store.fewRows(connection) : nil
    try requireRoom(survey, connection)
    try carryOut(survey, connection)
    report.duration = ContinuousClock.now - start
    try record(survey, report, rows: logged, connection)
    let map = try verify(survey.store, connection)
    try verifyRelationships(survey, map, connection)
    try connection.keepDerivedColumns(map.possibleDerivedColumns, in: map.layout)
    let rewritten = Set(survey.work.changes.flatMap { $0.change.tablesWithOtherRows.map(\.foldedIdentifier) })
    try connection.keepFullText(
      map.fullTextIndexes, trusting: textIndexes.filter { !rewritten.contains($0.table.foldedIdentifier) })
    return report
  }

  /// - Throws: what stands in the way.
  private func survey(_ connection: SQLiteConnection) throws -> StoreSurvey {
    let store = try StoreIdentification.identify(connection, registry: registry)
    let survey = try StoreSurvey(store, to: destination, registry: registry, defersWork: defersWork)
    guard !survey.isUpToDate else { return survey }
    let findings = try survey.findings(connection, countingLosses: !allowsLoss || survey.chain.leadsBack)
    if var error = survey.error(findings, allowsLoss: allowsLoss, downgrade: downgrade) {
      error.place.store = url
      throw error
    }
    return survey
  }

  private func report(_ survey: StoreSurvey, _ connection: SQLiteConnection) throws -> MigrationReport {
    MigrationReport(
      from: survey.chain.source.name, to: destination.name, way: survey.isUpToDate ? .none : survey.way,
      hops: survey.isUpToDate ? 0 : survey.chain.hops.count,
      rows: countsRows ? try survey.store.rowsByTable(connection).values.reduce(0, +) : nil, duration: .zero)
  }

  // MARK: Writing

  private func carryOut(_ survey: StoreSurvey, _ connection: SQLiteConnection) throws {
    let changes = survey.work.changes
    let schema = survey.store.catalog.schema
    var tally = MigrationTally(
      try changes.map { try progress == nil ? 1 : weight(of: $0.change, schema, connection) },
      hop: hop ?? survey.chain.hop, report: progress)
    for change in changes {
      let question = tally.question(
        SQLText.statements(change.change).first?.text ?? "", entity: change.subject?.entity)
      guard question?(0) != false else { throw cancelled }
      do {
        try connection.whileGoingOn(rows: tally.weight, question) { try connection.apply(change.change) }
      } catch let error as PersistError where error.code == .interrupted {
        throw cancelled
      } catch let error as PersistError where [.sqlite, .constraintConflict].contains(error.code) {
        throw PersistError(
          .migrationFailed, at: error.place, "The store stays as it was: \(error.message)", fix: error.fix,
          errors: [error])
      }
      tally.advance()
    }
    guard tally.question("", entity: nil)?(0) != false else { throw cancelled }
  }

  private var cancelled: PersistError {
    PersistError(.migrationCancelled, at: .store(url), "The migration was cancelled. The store is as it was.")
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
    _ survey: StoreSurvey, _ report: MigrationReport, rows: Int?, _ connection: SQLiteConnection
  ) throws {
    var metadata = survey.store.metadata
    metadata.deferredSteps = survey.work.deferred.compactMap { DeferredStep($0.change) }
    if hop == nil { metadata.log(MigrationLogEntry(report, rows: rows)) }
    metadata.noteLineage(through: survey.chain.versions.map(\.model), to: destination.model)
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
      throw PersistError(
        .migrationFailed, at: .store(url),
        "The store would not have become what the new model wants, and stays as it was: "
          + differences.joined(separator: " "), fix: "This is a defect of Persist; please report it with both models.")
    }
    return map
  }
}
