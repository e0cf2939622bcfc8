public import Foundation
import Persist

extension SQLMigrator {
  /// Reverts applied migrations, the newest first, each in its own transaction.
  ///
  /// Only migrations with SQL that reverts them can be reverted (``SQLMigration/canBeReverted``), and only if no later
  /// version is applied that isn't among the migrations. If one of those to revert can't be, none is reverted.
  ///
  /// - Parameters:
  ///   - url: the database.
  ///   - version: the newest version that remains applied, 0 for none; nil to revert only the newest migration.
  /// - Throws: `PersistenceError.Code.invalidRequest` for a migration that can't be reverted, and for a version that
  ///   no migration has and that isn't recorded as applied; the errors of ``migrate(storeAt:to:)``. Migrations reverted
  ///   before a failed one remain reverted.
  @discardableResult
  public func rollBack(storeAt url: URL, to version: Int64? = nil) throws -> SQLMigrationReport {
    try run(on: url) { try $0.rollBack(to: version) }
  }

  /// Records migrations as applied without running them, for a database that already has their changes: the baseline
  /// from which it continues.
  ///
  /// - Parameters:
  ///   - url: the database.
  ///   - last: the last version to record; nil for the newest.
  /// - Returns: the migrations that were recorded; those that had been applied already aren't among them.
  /// - Throws: `PersistenceError.Code.invalidRequest` if there is no such version; the errors of
  ///   ``migrate(storeAt:to:)``. Nothing is recorded then.
  @discardableResult
  public func stamp(storeAt url: URL, to last: Int64? = nil) throws -> [SQLMigration] {
    if let last { try requireVersion(last) }
    return try run(on: url, upTo: last) { try $0.stamp() }
  }

  /// - Throws: `PersistenceError.Code.invalidRequest` if no migration has the version.
  func requireVersion(_ version: Int64) throws {
    guard !migrations.contains(where: { $0.version == version }) else { return }
    throw PersistenceError(
      .invalidRequest, "There is no migration of version \(version).",
      fix: "There are \(migrations.map { "\($0.version)" }.joined(separator: ", ")).")
  }
}
