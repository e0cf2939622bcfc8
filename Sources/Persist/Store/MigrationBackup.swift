public import Foundation

/// A copy of a store created before it is migrated.
///
/// A failed migration leaves the store unchanged by itself. The copy protects against faults that no program can
/// handle, such as a disk that loses acknowledged writes: if the store is damaged after a failure, it is restored from
/// the copy.
///
/// ```swift
/// var options = StoreOptions.automaticMigration
/// options.backup = .kept(at: backups.appendingPathComponent("before-2.0.sqlite"))
/// try coordinator.addStore(at: url, options: options)
/// ```
public enum MigrationBackup: Sendable, Hashable {
  /// A file in a hidden folder beside the store, removed when the migration has ended.
  case removedAfterwards
  /// A file that is kept; it must not exist yet.
  case kept(at: URL)
}
