public import Foundation

/// A copy of a store that is made before it is migrated.
///
/// A migration that fails leaves the store as it was by itself. The copy is for what no program can answer for, such as
/// a disk that loses what it has acknowledged: where the store isn't whole after a failure, it comes from the copy.
///
/// ```swift
/// var options = StoreOptions.automaticMigration
/// options.backup = .kept(at: backups.appendingPathComponent("before-2.0.sqlite"))
/// try coordinator.addStore(at: url, options: options)
/// ```
public enum MigrationBackup: Sendable, Hashable {
  /// A file in a hidden folder beside the store, which goes when the migration has ended.
  case removedAfterwards
  /// A file that stays; there is none of that name yet.
  case kept(at: URL)
}
