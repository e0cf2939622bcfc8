public import Foundation
public import Persist

/// A migration in place as a script for the program `sqlite3`, for those who review a migration and run it by hand.
///
/// ```swift
/// let script = try MigrationScript(storeAt: url, to: version, registry: registry)
/// try Data(script.text.utf8).write(to: file)          // sqlite3 Shop.sqlite < shop.sql
/// ```
///
/// The script is for one store in one state: it consists of the statements that a migration of a copy ran. It begins by
/// checking the store's identifier, version, metadata, columns, numbers of rows and objects' versions, ends by checking
/// the result in the same way, and is one transaction. It has been run on another copy, without functions that only
/// Persist has, and its result is that of the migration.
public struct MigrationScript: Sendable {
  /// The plan of the migration.
  public let plan: MigrationPlan
  /// The script.
  public let text: String

  /// Writes the script of a store's migration. The store itself isn't changed.
  ///
  /// - Parameters:
  ///   - url: the file of the store.
  ///   - version: the target version; nil for the current one of the store's family.
  ///   - registry: every known version, and mapping models.
  ///   - migrator: the settings of the migration.
  /// - Throws: ``PersistenceError/Code/invalidRequest`` if the migration isn't in place, or there is none; the
  ///   obstacles to the migration; ``PersistenceError/Code/migrationFailed`` if statements need functions that only
  ///   Persist has.
  /// - Complexity: linear in the size of the store, in time and in disk space: two copies of it, in the folder for
  ///   temporary files.
  public init(
    storeAt url: URL, to version: ModelVersion? = nil, registry: ModelRegistry,
    migrator: AutomaticMigrator = AutomaticMigrator()
  ) throws {
    guard let engine = try StoreLocation(url).engine as? SQLiteEngine else {
      throw PersistenceError(
        .invalidRequest, at: .store(url), "There are scripts only for migrations of stores in files.",
        fix: "Migrate the store with 'persist migrate'.")
    }
    plan = try MigrationPlan(storeAt: url, to: version, registry: registry, migrator: migrator)
    if let error = plan.error { throw error }
    guard plan.way == .inPlace else {
      throw PersistenceError(
        .invalidRequest, at: .store(url),
        plan.way == .none
          ? "The store has version '\(plan.to)' already, so there is nothing to write a script for."
          : "The migration to '\(plan.to)' copies the store into a new file, which a script can't do.",
        fix: plan.way == .none ? nil : "Migrate the store with 'persist migrate'.")
    }
    let folder = try TemporaryFolder.make()
    defer { try? FileManager.default.removeItem(at: folder) }
    let copies = try (0..<2).map { number in
      let subfolder = folder.appendingPathComponent("\(number)")
      try FileManager.default.createDirectory(at: subfolder, withIntermediateDirectories: true)
      return subfolder.appendingPathComponent(url.lastPathComponent)
    }
    try engine.duplicate(StoreLocation(url), to: StoreLocation(copies[0]))
    try engine.duplicate(StoreLocation(copies[0]), to: StoreLocation(copies[1]))
    let script = try Self.recorded(at: copies[0], plan, to: version, among: registry, migrator)
    try Self.tryScript(script.sql, onStoreAt: copies[1], expecting: copies[0])
    text = script.text
  }

  /// Migrates a copy, and returns the statements.
  private static func recorded(
    at url: URL, _ plan: MigrationPlan, to version: ModelVersion?, among registry: ModelRegistry,
    _ migrator: AutomaticMigrator
  ) throws -> MigrationScriptText {
    let connection = try SQLiteConnection(url, mode: .readWrite)
    defer { connection.close() }
    let family = try connection.identify(among: registry).family
    var migration = InPlaceMigration(
      ofUnusedStoreAt: url, to: version ?? family?.current ?? registry.currentVersion,
      registry: migrator.resources(registry).pathRegistry, migrator: migrator)
    var files: [String] = []
    for values in try migration.newSurvey(connection).work.forgotten {
      files += try connection.largeValueNames(in: values.table, column: values.column, values.rows)
    }
    // The version is checked first, because everything else differs too when a script runs twice.
    let checks = try connection.scriptChecks()
    let before = try checks.filter { $0.kind == .identity } + connection.scriptContentChecks()
      + checks.filter { $0.kind != .identity }
    let statements = try connection.recordingStatements { _ = try migration.run(on: connection) }
    return MigrationScriptText(
      comment: comment(plan, url.lastPathComponent, unusedFiles: files), before: before, statements: statements,
      after: try connection.scriptChecks())
  }

  private static func comment(_ plan: MigrationPlan, _ name: String, unusedFiles: [String]) -> [String] {
    let isEncrypted = StoreEncryption.current != nil
    var lines = [
      "Migrates the store '\(name)' from '\(plan.from)' to '\(plan.to)', in one transaction.",
      "Make a backup first, and close the store in all programs. Then: "
        + (isEncrypted ? "sqlcipher -init KEY STORE < THIS FILE" : "sqlite3 STORE < THIS FILE"),
      "If a check fails, nothing has changed, and the status of \(isEncrypted ? "sqlcipher" : "sqlite3") is 1.",
    ]
    if isEncrypted { lines.append("KEY is a file that only you can read, with one line: PRAGMA key = '…';") }
    for (word, contents) in [("Loss", plan.lost), ("Parked", plan.shownParked), ("Restored", plan.restored)] {
      lines += contents.map { content in
        let rows = content.rows.map { ", \($0) rows" } ?? ""
        let place = [content.entity, content.property].compactMap { $0 }.joined(separator: ".")
        return "\(word): \(place): \(content.what)\(rows)"
      }
    }
    if !unusedFiles.isEmpty {
      lines.append("Files of the folder '_EXTERNAL_DATA' that can be deleted afterward:")
      lines += unusedFiles.map { "  \($0)" }
    }
    return lines
  }
}
