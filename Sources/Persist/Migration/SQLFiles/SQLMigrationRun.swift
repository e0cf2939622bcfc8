import Foundation

/// A run of migrations on a connection.
///
/// Pending migrations are determined again before each one, under the write lock, because another process may have
/// applied it.
struct SQLMigrationRun {
  let migrator: SQLMigrator
  let connection: SQLiteConnection
  let last: Int64?

  /// The result of the last foreign key check, and the version of the file's content at that time.
  private var checkedKeys: (state: ForeignKeyState, content: Int64?)?
  private var applied: [SQLMigrationStatus.Entry] = []
  private var total = 0

  init(migrator: SQLMigrator, connection: SQLiteConnection, last: Int64?) {
    (self.migrator, self.connection, self.last) = (migrator, connection, last)
  }

  mutating func run() throws -> SQLMigrationReport {
    let start = ContinuousClock.now
    let first = try connection.readTransaction { try survey() }
    total = first.pending.count
    for migration in first.pending {
      do {
        guard report(migration, part: 0) else { throw cancelled }
        if try apply(migration) { addApplied(migration) }
      } catch let error as PersistenceError {
        throw failure(of: migration, error)
      }
    }
    _ = report(nil, part: 0)
    let status = try finish()
    return SQLMigrationReport(
      from: first.status.currentVersion, to: status.currentVersion, applied: applied,
      duration: ContinuousClock.now - start)
  }

  /// - Throws: the obstacles to the migration.
  private func survey() throws -> SQLMigrationSurvey {
    let survey = try migrator.survey(connection, upTo: last)
    if let problem = survey.status.problems.first {
      var error = PersistenceError.combining(
        survey.status.problems, as: problem.code, "Nothing was migrated, for \(survey.status.problems.count) reasons.")
      error.place.store = error.place.file == nil ? connection.url : nil
      throw error
    }
    return survey
  }

  /// Records the checksums of migrations that another tool ran, unless a migration of this run has already recorded
  /// them.
  private func finish() throws -> SQLMigrationStatus {
    let last = try connection.readTransaction { try survey() }
    if !last.unrecorded.isEmpty { try connection.transaction { try recordOthers(survey()) } }
    return last.status
  }
}

// MARK: One migration

extension SQLMigrationRun {
  /// - Returns: whether the migration ran; false if another process applied it first.
  private mutating func apply(_ migration: SQLMigration) throws -> Bool {
    try connection.execute(migration.foreignKeys == .enforced ? .foreignKeysOn : .foreignKeysOff)
    guard migration.runsInTransaction else { return try applyWithoutTransaction(migration) }
    return try connection.transaction {
      guard try isPending(migration) else { return false }
      if migration.foreignKeys == .enforced { try connection.execute(.deferForeignKeysOn) }
      let before = try keys()
      try work(migration)
      try checkKeys(since: before)
      try record(migration)
      return true
    }
  }

  private mutating func applyWithoutTransaction(_ migration: SQLMigration) throws -> Bool {
    guard try connection.readTransaction({ try isPending(migration) }) else { return false }
    defer { if connection.isInTransaction { _ = try? connection.execute(.rollback) } }
    try work(migration)
    guard !connection.isInTransaction else {
      throw PersistenceError(
        .migrationFailed, "The migration began a transaction and didn't end it.", fix: "End it with COMMIT.")
    }
    checkedKeys = nil
    try connection.transaction { try record(migration) }
    return true
  }

  private func isPending(_ migration: SQLMigration) throws -> Bool {
    try survey().pending.contains { $0.version == migration.version }
  }

  private func work(_ migration: SQLMigration) throws {
    try SQLScriptRunner.use(connection) { runner in
      switch migration.work {
      case .script(let script):
        var done = 0.0
        try runner.run(script) { statement, part in
          guard report(migration, part: done) else { throw cancelled }
          try connection.reportingProgress({ [done] in report(migration, part: done) }) {
            while try statement.step() {}
          }
          done = part
        }
      case .code(let body):
        let database = SQLDatabase(runner)
        defer { database.close() }
        try connection.reportingProgress({ report(migration, part: 0) }) { try body(database) }
      }
    }
  }

  /// The state of foreign keys before a migration; nil if SQLite can't determine it, for example because a declaration
  /// refers to columns that aren't unique. The result after the previous migration is reused until another connection
  /// writes.
  private func keys() throws -> ForeignKeyState? {
    if let checkedKeys, try checkedKeys.content == content() { return checkedKeys.state }
    do {
      return try ForeignKeyState(connection)
    } catch let error as PersistenceError where error.code == .sqlite {
      return nil
    }
  }

  private mutating func checkKeys(since before: ForeignKeyState?) throws {
    guard let before else { return }
    let now = try ForeignKeyState(connection)
    if let damage = now.damage(since: before) {
      throw PersistenceError(
        .migrationFailed, "The migration violates foreign keys. \(damage)",
        fix: "Delete or change those rows in the migration.")
    }
    checkedKeys = try (now, content())
  }

  /// A number that changes when another connection writes.
  private func content() throws -> Int64? { try connection.first(.dataVersion) { $0.integer(0) } }

  private func record(_ migration: SQLMigration) throws {
    let survey = try migrator.survey(connection, upTo: nil)
    for statement in survey.history.table.statementsToRecord(migration) { try connection.execute(statement) }
    try recordOthers(survey)
    try connection.execute(
      .record(version: migration.version, name: migration.name, checksum: migration.checksum, isAppliedNow: true))
  }

  private func recordOthers(_ survey: SQLMigrationSurvey) throws {
    try connection.execute(.createFileRecords)
    for migration in survey.unrecorded {
      try connection.execute(
        .record(version: migration.version, name: migration.name, checksum: migration.checksum, isAppliedNow: false))
    }
  }

  private mutating func addApplied(_ migration: SQLMigration) {
    applied.append(
      SQLMigrationStatus.Entry(
        version: migration.version, name: migration.name, file: migration.file, state: .applied, isOutOfOrder: false,
        appliedAt: Date()))
  }
}

// MARK: Reporting

extension SQLMigrationRun {
  /// - Returns: whether to continue.
  private func report(_ migration: SQLMigration?, part: Double) -> Bool {
    let progress = SQLMigrationProgress(
      completed: migration == nil ? total : applied.count, total: total, version: migration?.version,
      name: migration?.name ?? "", part: part)
    return migrator.progress?(progress) != false && !Task.isCancelled
  }

  private var cancelled: PersistenceError { PersistenceError(.migrationCancelled, "The migration was cancelled.") }

  /// The error to throw, with the migration and the resulting state of the database.
  private func failure(of migration: SQLMigration, _ error: PersistenceError) -> PersistenceError {
    let code: PersistenceError.Code =
      switch error.code {
      case .sqlite, .constraintConflict, .invalidRequest, .storeOpenFailed: .migrationFailed
      case .interrupted: .migrationCancelled
      default: error.code
      }
    var place = error.place
    place.file = place.file ?? migration.file
    place.store = connection.url
    if place.file == nil { place.key = migration.description }
    let versions = applied.compactMap(\.version).map(String.init).joined(separator: ", ")
    let earlier = applied.isEmpty ? "" : " Applied before it: \(versions)."
    let state =
      migration.runsInTransaction
      ? "The database is as it was before \(migration)."
      : "Earlier statements of \(migration) remain applied, because it has no transaction."
    return PersistenceError(
      code, at: place, "\(error.fullMessage) \(state)\(earlier)", fix: error.fix ?? Self.fix(for: error))
  }

  /// The fix for statements that can't run in a transaction, which only SQLite's message reveals.
  private static func fix(for error: PersistenceError) -> String? {
    guard error.engineMessage?.contains("transaction") == true else { return nil }
    return "Put it into a separate file with '-- persist: without-transaction' at the top."
  }
}
