public import Foundation

/// Brings databases whose schema the application owns to the newest version, by SQL files and code in one sequence.
///
/// A database keeps the versions that it has been through in its table `schema_migrations`. Each migration runs once,
/// in a transaction with the note that it did: whatever happens meanwhile, the database is afterwards as it was before
/// that migration, or it has been through it. Where two processes come at once, one migrates and the other waits and
/// then finds nothing to do.
///
/// ```swift
/// let migrator = try SQLMigrator(filesIn: folder)
/// print(try migrator.status(ofStoreAt: url).pending)
/// try migrator.migrate(storeAt: url)
/// ```
///
/// Any SQLite file will do: a new one, one with tables but no versions, one that another tool has migrated so far.
/// Tables that Rails, dbmate, golang-migrate, Ecto, FMDBMigrationManager, Diesel and GRDB made are used as they are, so
/// that those tools see what Persist has run. Beside it, in a table of its own, Persist keeps checksums, by which it
/// notices a file that was edited after it had been applied.
public struct SQLMigrator: Sendable {
  /// Called as migrations proceed, also within long statements; false cancels, and the migration that runs is undone.
  public typealias ProgressHandler = @Sendable (SQLMigrationProgress) -> Bool

  /// The whole sequence, in the order of versions.
  public let migrations: [SQLMigration]

  /// SQL files of the folder that aren't part of the sequence, because their names have no version.
  public private(set) var skippedFiles: [URL] = []

  /// The table in which versions are kept; nil for `schema_migrations`, `__diesel_schema_migrations` or
  /// `grdb_migrations`, whichever is there.
  ///
  /// Versions stand in its column `version`, as numbers or as text, or migrations' names in its column `identifier`.
  /// Where it has a column `dirty`, its one row is the newest version.
  public var table: String?

  /// Whether to refuse a migration that is older than one that has been applied.
  ///
  /// Where not, it runs, before those that are newer: two people who work on branches of their own each make a file,
  /// and the one that is merged last may be the older one. What such migrations do must not depend on their order.
  public var refusesOutOfOrder = false

  /// Whether to go on where the database has a version above all of the sequence: a newer application gave it.
  public var allowsUnknownVersions = false

  /// How long to wait for another process that has the database, such as one that is migrating it.
  public var busyTimeout: Duration = .seconds(60)

  public var progress: ProgressHandler?

  /// - Throws: ``PersistenceError/Code/invalidRequest`` where two migrations have the same version.
  public init(_ migrations: [SQLMigration]) throws {
    self.migrations = migrations.sorted { $0.version < $1.version }
    for (one, other) in zip(self.migrations, self.migrations.dropFirst()) where one.version == other.version {
      let names = [one, other].map { $0.file.map { "the file '\($0.lastPathComponent)'" } ?? "'\($0)' in code" }
      throw PersistenceError(
        .invalidRequest, at: PersistenceError.Place(file: other.file),
        "Two migrations have the version \(one.version): \(names[0]) and \(names[1]).",
        fix: "Give one of them another version.")
    }
  }

  /// - Parameters:
  ///   - folder: see ``SQLMigration/files(in:)``.
  ///   - others: migrations in code, which take their places among the files by their versions.
  /// - Throws: what is wrong with the folder or a file in it; ``PersistenceError/Code/fileAccess`` where there is no
  ///   migration at all, which a forgotten resource looks like; ``PersistenceError/Code/invalidRequest`` where two
  ///   migrations have the same version.
  public init(filesIn folder: URL, and others: [SQLMigration] = []) throws {
    let found = try SQLMigration.contents(of: folder)
    let migrations = found.migrations + others
    guard !migrations.isEmpty else {
      guard let skipped = found.skipped.first else {
        throw PersistenceError(
          .fileAccess, at: .file(folder), "There are no SQL files in '\(folder.lastPathComponent)'.",
          fix: "Give the folder that they are in.")
      }
      throw PersistenceError(
        .fileAccess, at: .file(folder),
        "No SQL file in '\(folder.lastPathComponent)' has a version in its name: '\(skipped.lastPathComponent)'.",
        fix: "Call them by a number or a time stamp and a name, such as '0001_create.sql'.")
    }
    try self.init(migrations)
    skippedFiles = found.skipped
  }

  /// What a database has been through and what is still to run. Never writes.
  ///
  /// - Parameter url: a database; where there is none, everything is still to run.
  public func status(ofStoreAt url: URL) throws -> SQLMigrationStatus {
    guard let file = FileState(url), file.size > 0 || file.isFolder else {
      return survey(SQLMigrationHistory(newTable: table), upTo: nil).status
    }
    let connection = try SQLiteConnection(url, mode: .readOnly, options: StoreOptions(busyTimeout: busyTimeout))
    defer { connection.close() }
    return try connection.readTransaction { try survey(connection, upTo: nil).status }
  }

  /// Runs what is still to run.
  ///
  /// - Parameters:
  ///   - url: a database; it is made where there is none.
  ///   - last: the version to stop at; nil for the newest. Nothing leads back: a database that is further stays so.
  /// - Throws: ``PersistenceError/Code/migrationFailed`` with file, line, column and SQLite's words: migrations before
  ///   the one that failed stay, and that one is undone; ``PersistenceError/Code/migrationCancelled``;
  ///   ``PersistenceError/Code/storeBusy``, ``PersistenceError/Code/diskFull`` and the like; before anything ran
  ///   ``PersistenceError/Code/migrationFileChanged`` and other ``SQLMigrationStatus/problems``.
  @discardableResult
  public func migrate(storeAt url: URL, to last: Int64? = nil) throws -> SQLMigrationReport {
    if let last, !migrations.contains(where: { $0.version == last }) {
      throw PersistenceError(
        .invalidRequest, "There is no migration of version \(last).",
        fix: "There are \(migrations.map { "\($0.version)" }.joined(separator: ", ")).")
    }
    let connection = try open(url)
    defer { connection.close() }
    var run = SQLMigrationRun(migrator: self, connection: connection, last: last)
    return try run.run()
  }

  /// Takes files as they are now for what was applied, where they were edited: from now on their new checksums count.
  ///
  /// For changes that a database doesn't see, such as those of comments and blanks. Nothing is run.
  ///
  /// - Returns: the migrations whose files had been edited.
  @discardableResult
  public func acceptChanges(inStoreAt url: URL) throws -> [SQLMigration] {
    let connection = try open(url)
    defer { connection.close() }
    return try connection.transaction {
      let status = try survey(connection, upTo: nil).status
      let versions = Set(status.entries.filter { $0.state == .changed }.compactMap(\.version))
      let changed = migrations.filter { versions.contains($0.version) }
      for migration in changed {
        try connection.execute(
          .record(
            version: migration.version, name: migration.name, checksum: migration.checksum, isAppliedNow: false))
      }
      return changed
    }
  }

  private func open(_ url: URL) throws -> SQLiteConnection {
    try SQLiteConnection(url, mode: .application, options: StoreOptions(busyTimeout: busyTimeout))
  }

  func survey(_ connection: SQLiteConnection, upTo last: Int64?) throws -> SQLMigrationSurvey {
    try PersistenceError.placing({ $0.store = connection.url }) {
      survey(try SQLMigrationHistory(connection, table: table), upTo: last)
    }
  }

  private func survey(_ history: SQLMigrationHistory, upTo last: Int64?) -> SQLMigrationSurvey {
    SQLMigrationSurvey(
      migrations, history, upTo: last,
      rules: .init(refusesOutOfOrder: refusesOutOfOrder, allowsUnknownVersions: allowsUnknownVersions))
  }
}
