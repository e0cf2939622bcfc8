import Foundation
import Persist

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
  private var reverted: [SQLMigrationStatus.Entry] = []
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
        if try run(migration, .apply) { applied.append(entry(of: migration, .applied)) }
      } catch let error as PersistenceError {
        throw failure(of: migration, error)
      }
    }
    _ = report(nil, part: 0)
    let status = try finish()
    return SQLMigrationReport(
      from: first.status.currentVersion, to: status.currentVersion, applied: applied, reverted: [],
      duration: ContinuousClock.now - start)
  }

  /// Reverts applied migrations, the newest first.
  ///
  /// - Parameter version: the newest version that stays, 0 for none; nil to revert one migration.
  mutating func rollBack(to version: Int64?) throws -> SQLMigrationReport {
    let start = ContinuousClock.now
    let first = try connection.readTransaction { try survey() }
    // A migration that was applied may no longer be in the sequence.
    if let version, version != 0, !first.history.versions.contains(version) { try migrator.requireVersion(version) }
    let due = try first.reverted(to: version).map { migration in
      try first.requireNoneUnknown(above: migration)
      guard let reversed = migration.reversed() else { throw Self.withoutWayBack(migration) }
      return reversed
    }
    total = due.count
    for migration in due {
      do {
        guard report(migration, part: 0) else { throw cancelled }
        if try run(migration, .revert) { reverted.append(entry(of: migration, .pending)) }
      } catch let error as PersistenceError {
        throw failure(of: migration, error, isReverting: true)
      }
    }
    _ = report(nil, part: 0)
    let status = try connection.readTransaction { try survey().status }
    return SQLMigrationReport(
      from: first.status.currentVersion, to: status.currentVersion, applied: [], reverted: reverted,
      duration: ContinuousClock.now - start)
  }

  /// Records the pending migrations as applied without running them.
  func stamp() throws -> [SQLMigration] {
    try connection.transaction {
      let pending = try survey().pending
      for migration in pending {
        // The first migration creates the table.
        let table = try migrator.survey(connection, upTo: last).history.table
        try execute(
          table.statementsToRecord(migration) + [.createFileRecords, migration.statementToRecordAsOther])
      }
      return pending
    }
  }

  /// Records the present checksums of edited files.
  func acceptChanges() throws -> [SQLMigration] {
    try connection.transaction {
      let status = try migrator.survey(connection, upTo: nil).status
      let versions = Set(status.entries.filter { $0.state == .changed }.compactMap(\.version))
      let changed = migrator.migrations.filter { versions.contains($0.version) }
      try execute(changed.map(\.statementToRecordAsOther))
      return changed
    }
  }

  private static func withoutWayBack(_ migration: SQLMigration) -> PersistenceError {
    PersistenceError(
      .invalidRequest, at: PersistenceError.Place(file: migration.file),
      "The migration \(migration) has no SQL that reverts it. Nothing was reverted.",
      fix: "Put the SQL into the file '\(migration).down.sql', or restore a backup.")
  }

  /// - Throws: the obstacles to the migration.
  private func survey() throws -> SQLMigrationSurvey {
    try migrator.survey(connection, upTo: last).withoutProblems(in: connection.url)
  }

  /// Records the checksums of migrations that another tool ran, unless a migration of this run has already recorded
  /// them.
  private func finish() throws -> SQLMigrationStatus {
    let last = try connection.readTransaction { try survey() }
    if !last.unrecorded.isEmpty {
      try connection.transaction { try execute(Self.statementsToRecord(others: survey())) }
    }
    return last.status
  }
}

// MARK: One migration

extension SQLMigrationRun {
  private enum Direction {
    case apply, revert
  }

  /// - Returns: whether the migration ran; false if another process applied or reverted it first.
  private mutating func run(_ migration: SQLMigration, _ direction: Direction) throws -> Bool {
    try connection.execute(migration.foreignKeys == .enforced ? .foreignKeysOn : .foreignKeysOff)
    guard migration.runsInTransaction else { return try runWithoutTransaction(migration, direction) }
    return try connection.transaction {
      guard try isDue(migration, direction) else { return false }
      if migration.foreignKeys == .enforced { try connection.execute(.deferForeignKeysOn) }
      let before = try keys()
      try work(migration)
      try checkKeys(since: before)
      try record(migration, direction)
      return true
    }
  }

  private mutating func runWithoutTransaction(_ migration: SQLMigration, _ direction: Direction) throws -> Bool {
    guard try connection.readTransaction({ try isDue(migration, direction) }) else { return false }
    defer { if connection.isInTransaction { _ = try? connection.execute(.rollback) } }
    try work(migration)
    guard !connection.isInTransaction else {
      throw PersistenceError(
        .migrationFailed, "The migration began a transaction and didn't end it.", fix: "End it with COMMIT.")
    }
    checkedKeys = nil
    try connection.transaction { try record(migration, direction) }
    return true
  }

  private func isDue(_ migration: SQLMigration, _ direction: Direction) throws -> Bool {
    let survey = try survey()
    switch direction {
    case .apply: return survey.pending.contains { $0.version == migration.version }
    case .revert:
      try survey.requireNoneUnknown(above: migration)
      return survey.history.includes(migration)
    }
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

  private func record(_ migration: SQLMigration, _ direction: Direction) throws {
    let survey = try migrator.survey(connection, upTo: nil)
    switch direction {
    case .apply:
      try execute(
        survey.history.table.statementsToRecord(migration) + Self.statementsToRecord(others: survey) + [
          .record(version: migration.version, name: migration.name, checksum: migration.checksum, isAppliedNow: true)
        ])
    case .revert:
      try execute(
        survey.history.table.statementsToRemove(
          survey.history.keys(of: migration), previous: survey.applied.last { $0.version < migration.version })
          + [.createFileRecords, .removeRecord(version: migration.version)])
    }
  }

  private static func statementsToRecord(others survey: SQLMigrationSurvey) -> [SQLText] {
    [.createFileRecords] + survey.unrecorded.map(\.statementToRecordAsOther)
  }

  private func execute(_ statements: [SQLText]) throws {
    for statement in statements { try connection.execute(statement) }
  }

  private func entry(of migration: SQLMigration, _ state: SQLMigrationStatus.State) -> SQLMigrationStatus.Entry {
    SQLMigrationStatus.Entry(
      version: migration.version, name: migration.name, file: migration.file, state: state, isOutOfOrder: false,
      appliedAt: state == .applied ? Date() : nil)
  }
}

// MARK: Reporting

extension SQLMigrationRun {
  /// - Returns: whether to continue.
  private func report(_ migration: SQLMigration?, part: Double) -> Bool {
    let progress = SQLMigrationProgress(
      completed: migration == nil ? total : applied.count + reverted.count, total: total, version: migration?.version,
      name: migration?.name ?? "", part: part)
    return migrator.progress?(progress) != false && !Task.isCancelled
  }

  private var cancelled: PersistenceError { PersistenceError(.migrationCancelled, "The migration was canceled.") }

  /// The error to throw, with the migration and the resulting state of the database.
  private func failure(
    of migration: SQLMigration, _ error: PersistenceError, isReverting: Bool = false
  ) -> PersistenceError {
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
    let completed = isReverting ? reverted : applied
    let versions = completed.compactMap(\.version).map(String.init).joined(separator: ", ")
    let earlier = completed.isEmpty ? "" : " \(isReverting ? "Reverted" : "Applied") before it: \(versions)."
    let state =
      migration.runsInTransaction
      ? "The database is as it was before \(isReverting ? "the reversal of " : "")\(migration)."
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

extension SQLMigration {
  /// Records the checksum of a migration that Persist didn't run now.
  fileprivate var statementToRecordAsOther: SQLText {
    .record(version: version, name: name, checksum: checksum, isAppliedNow: false)
  }
}
