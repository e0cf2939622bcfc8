import Foundation
import Persist

/// The work to do in a database, as a value: the comparison of the sequence with the database's history.
struct SQLMigrationSurvey {
  /// Optional restrictions on running migrations.
  struct Rules: Sendable, Hashable {
    var refusesOutOfOrder = false
    var allowsUnknownVersions = false
  }

  let history: SQLMigrationHistory
  /// The migrations to run, in order.
  let pending: [SQLMigration]
  /// The migrations that another tool has run and Persist hasn't recorded.
  let unrecorded: [SQLMigration]
  let status: SQLMigrationStatus
  /// The applied migrations of the sequence, in order.
  let applied: [SQLMigration]

  /// - Parameters:
  ///   - migrations: the sequence, ordered by version.
  ///   - last: the last version to run; nil for all.
  init(_ migrations: [SQLMigration], _ history: SQLMigrationHistory, upTo last: Int64?, rules: Rules) {
    self.history = history
    let applied = migrations.filter(history.includes)
    self.applied = applied
    let newest = applied.last?.version ?? -1
    let open = migrations.filter { !history.includes($0) }
    pending = open.filter { migration in last.map { migration.version <= $0 } ?? true }
    unrecorded = applied.filter { $0.checksum != nil && history.records[$0.version]?.checksum == nil }
    let changed = applied.filter { migration in
      let recorded = history.records[migration.version]?.checksum
      return recorded != nil && migration.checksum != recorded
    }
    let unknown = Self.unknown(migrations, history)
    var entries = migrations.map { migration in
      let isPending = !history.includes(migration)
      return SQLMigrationStatus.Entry(
        version: migration.version, name: migration.name, file: migration.file,
        state: isPending ? .pending : changed.contains { $0.version == migration.version } ? .changed : .applied,
        isOutOfOrder: isPending && migration.version < newest,
        appliedAt: isPending ? nil : history.records[migration.version]?.appliedAt)
    }
    entries += unknown
    entries.sort { ($0.version ?? -1, $0.name) < ($1.version ?? -1, $1.name) }
    var problems = changed.map { Self.changed($0) }
    if let version = history.unfinished { problems.append(Self.unfinished(version, history.table.name)) }
    if !rules.allowsUnknownVersions {
      problems += unknown.compactMap { Self.newer($0, than: migrations.last) }
    }
    if rules.refusesOutOfOrder {
      problems += pending.filter { $0.version < newest }.map { Self.outOfOrder($0, newest) }
    }
    status = SQLMigrationStatus(entries: entries, table: history.table.name, problems: problems)
  }

  /// The survey itself.
  ///
  /// - Throws: the problems for which nothing may run.
  func withoutProblems(in url: URL?) throws -> SQLMigrationSurvey {
    guard let problem = status.problems.first else { return self }
    var error = PersistenceError.combining(
      status.problems, as: problem.code, "Nothing was migrated, for \(status.problems.count) reasons.")
    error.place.store = error.place.file == nil ? url : nil
    throw error
  }

  /// The applied migrations above a version, the newest first; without a version, only the newest.
  func reverted(to version: Int64?) -> [SQLMigration] {
    guard let version else { return Array(applied.suffix(1)) }
    return applied.reversed().filter { $0.version > version }
  }

  /// - Throws: `PersistenceError.Code.invalidRequest` if a later version is applied that no migration has. Its
  ///   changes may depend on those of the migration, and a table with only the newest version would forget it.
  func requireNoneUnknown(above migration: SQLMigration) throws {
    let unknown = status.entries.filter { $0.state == .unknown }.compactMap(\.version)
    guard let newest = unknown.max(), newest > migration.version else { return }
    throw PersistenceError(
      .invalidRequest, at: Self.place(migration),
      "The migration \(migration) can't be reverted, because the later version \(newest) is applied, which no "
        + "migration has.", fix: "Revert that version first, with the application or the files that contain it.")
  }

  private static func unknown(
    _ migrations: [SQLMigration], _ history: SQLMigrationHistory
  ) -> [SQLMigrationStatus.Entry] {
    let versions = Set(migrations.map(\.version))
    let names = Set(migrations.flatMap { [$0.description, $0.name, $0.versionText] })
    return history.keys.compactMap { key in
      let version = history.table.key == .name ? nil : Int64(key)
      guard version.map({ !versions.contains($0) }) ?? !names.contains(key) else { return nil }
      return SQLMigrationStatus.Entry(
        version: version, name: version == nil ? key : "", state: .unknown, isOutOfOrder: false,
        appliedAt: version.flatMap { history.records[$0]?.appliedAt })
    }
  }

  // MARK: Problems

  private static func place(_ migration: SQLMigration) -> PersistenceError.Place {
    migration.file.map { .file($0) } ?? PersistenceError.Place(key: migration.description)
  }

  private static func changed(_ migration: SQLMigration) -> PersistenceError {
    PersistenceError(
      .migrationFileChanged, at: place(migration),
      "The migration \(migration) was edited after it was applied, so databases may not match it.",
      fix: "Undo the change and put it into a migration with a new version. If only comments changed, accept it "
        + "(`persist sql accept`, `SQLMigrator.acceptChanges`).")
  }

  private static func unfinished(_ version: String, _ table: String) -> PersistenceError {
    PersistenceError(
      .migrationUnfinished,
      "According to the table '\(table)', another tool didn't finish the migration to version \(version).",
      fix: "Complete or revert that migration with the tool or by hand, and clear the 'dirty' flag.")
  }

  private static func newer(_ entry: SQLMigrationStatus.Entry, than newest: SQLMigration?) -> PersistenceError? {
    guard let version = entry.version, version > newest?.version ?? -1 else { return nil }
    let known = newest.map { "the newest known one is \($0.version)" } ?? "no migration is known"
    return PersistenceError(
      .incompatibleModel,
      "The database has version \(version), set by a newer application; \(known).",
      fix: "Use the newer application, or set SQLMigrator.allowsUnknownVersions if this one can work with it.")
  }

  private static func outOfOrder(_ migration: SQLMigration, _ newest: Int64) -> PersistenceError {
    PersistenceError(
      .migrationOutOfOrder, at: place(migration),
      "The migration \(migration) is pending, but the later version \(newest) has already been applied.",
      fix: "Give it a version above \(newest), or turn SQLMigrator.refusesOutOfOrder off.")
  }
}
