public import Foundation
import Persist

/// Migrates databases whose schema the application owns to the newest version, with SQL files and code in one sequence.
///
/// A database records its applied versions in the table `schema_migrations`. Each migration runs once, in the same
/// transaction that records it as applied: whatever happens, the database has either all of the migration's changes or
/// none. If two processes migrate at the same time, one waits for the other and then finds nothing to do.
///
/// ```swift
/// let migrator = try SQLMigrator(filesIn: folder)
/// print(try migrator.status(ofStoreAt: url).pending)
/// try migrator.migrate(storeAt: url)
/// ```
///
/// Any SQLite file is suitable: a new one, one with tables but no versions, or one that another tool has migrated so
/// far. Tables created by Rails, dbmate, golang-migrate, Ecto, FMDBMigrationManager, Diesel and GRDB are used as they
/// are, so that those tools recognize the migrations that Persist runs. In a separate table Persist keeps checksums,
/// with which it detects a file that was edited after it had been applied.
public struct SQLMigrator: Sendable {
  /// Called as migrations proceed, even during long statements; returning false cancels, and the running migration is
  /// rolled back.
  public typealias ProgressHandler = @Sendable (SQLMigrationProgress) -> Bool

  /// The whole sequence, ordered by version.
  public let migrations: [SQLMigration]

  /// SQL files of the folder that aren't part of the sequence, because their names have no version.
  public private(set) var skippedFiles: [URL] = []

  /// The table of applied versions; nil for the existing one of `schema_migrations`, `__diesel_schema_migrations` and
  /// `grdb_migrations`.
  ///
  /// Its column `version` contains versions, as numbers or text, or its column `identifier` migrations' names. If it
  /// has a column `dirty`, its only row is the newest version.
  public var table: String?

  /// Whether to reject a migration that is older than one that has been applied.
  ///
  /// If not, it runs, before the newer ones: two people who work on separate branches each create a file, and the one
  /// merged last may be the older one. The effect of such migrations must not depend on their order.
  public var refusesOutOfOrder = false

  /// Whether to continue if the database has a version above the whole sequence, which a newer application applied.
  public var allowsUnknownVersions = false

  /// The time to wait for another process that locks the database, such as one that is migrating it.
  public var busyTimeout: Duration = .seconds(60)

  /// Called as migrations proceed; nil for none.
  public var progress: ProgressHandler?

  /// - Throws: `PersistenceError.Code.invalidRequest` if two migrations have the same version.
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
  ///   - folder: the folder of the files; see ``SQLMigration/files(in:)``.
  ///   - others: migrations in code, which are merged with the files by version.
  /// - Throws: errors in the folder or its files; `PersistenceError.Code.fileAccess` if there is no migration at all,
  ///   which indicates a forgotten resource; `PersistenceError.Code.invalidRequest` if two migrations have the same
  ///   version.
  public init(filesIn folder: URL, and others: [SQLMigration] = []) throws {
    let found = try SQLMigration.contents(of: folder)
    let migrations = found.migrations + others
    guard !migrations.isEmpty else {
      guard let skipped = found.skipped.first else {
        throw PersistenceError(
          .fileAccess, at: .file(folder), "There are no SQL files in '\(folder.lastPathComponent)'.",
          fix: "Specify the folder that contains them.")
      }
      throw PersistenceError(
        .fileAccess, at: .file(folder),
        "No SQL file in '\(folder.lastPathComponent)' has a version in its name: '\(skipped.lastPathComponent)'.",
        fix: "Name them with a number or a time stamp and a name, such as '0001_create.sql'.")
    }
    try self.init(migrations)
    skippedFiles = found.skipped
  }

  /// Returns the applied and the pending migrations of a database. Never writes.
  ///
  /// - Parameter url: the database; if it doesn't exist, all migrations are pending.
  public func status(ofStoreAt url: URL) throws -> SQLMigrationStatus {
    guard let file = FileState(url), file.size > 0 || file.isFolder else {
      return survey(SQLMigrationHistory(newTable: table), upTo: nil).status
    }
    let connection = try SQLiteConnection(url, mode: .readOnly, options: StoreOptions(busyTimeout: busyTimeout))
    defer { connection.close() }
    return try connection.readTransaction { try survey(connection, upTo: nil).status }
  }

  /// Runs the pending migrations.
  ///
  /// - Parameters:
  ///   - url: the database; it is created if it doesn't exist.
  ///   - last: the last version to run; nil for the newest. A database with a newer version keeps it; see
  ///     ``rollBack(storeAt:to:)``.
  /// - Throws: `PersistenceError.Code.migrationFailed` with file, line, column and SQLite's message: migrations
  ///   before the failed one remain applied, and that one is rolled back; `PersistenceError.Code.migrationCancelled`;
  ///   `PersistenceError.Code.storeBusy`, `PersistenceError.Code.diskFull` and similar errors; before anything
  ///   runs, `PersistenceError.Code.migrationFileChanged` and other ``SQLMigrationStatus/problems``.
  @discardableResult
  public func migrate(storeAt url: URL, to last: Int64? = nil) throws -> SQLMigrationReport {
    if let last { try requireVersion(last) }
    return try run(on: url, upTo: last) { try $0.run() }
  }

  /// Accepts files that were edited after they had been applied, by recording their new checksums.
  ///
  /// Intended for changes without effect on a database, such as those of comments and white space. Nothing is run.
  ///
  /// - Returns: the migrations whose files had been edited.
  @discardableResult
  public func acceptChanges(inStoreAt url: URL) throws -> [SQLMigration] {
    try run(on: url) { try $0.acceptChanges() }
  }

  /// Opens a database for a run.
  func run<Result>(
    on url: URL, upTo last: Int64? = nil, _ body: (inout SQLMigrationRun) throws -> Result
  ) throws -> Result {
    let connection = try SQLiteConnection(url, mode: .application, options: StoreOptions(busyTimeout: busyTimeout))
    defer { connection.close() }
    var run = SQLMigrationRun(migrator: self, connection: connection, last: last)
    return try body(&run)
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
