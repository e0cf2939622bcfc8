public import Foundation

/// The time for which values remain parked in a store before they are deleted.
///
/// ```swift
/// var migrator = AutomaticMigrator()
/// migrator.parkedLifetime = .seconds(90 * 24 * 60 * 60)
/// try coordinator.addStore(at: url, options: StoreOptions(migrator: migrator))
/// ```
///
/// They are deleted when a store is opened or migrated with the option. A program that must delete values at once sets
/// ``AutomaticMigrator/parking`` to ``MigrationParking/none``.
public enum ParkedLifetime: Sendable, Hashable {
  /// Until they are restored or purged.
  case unlimited
  /// For some time, in seconds.
  case seconds(TimeInterval)
  /// For a number of later migrations: with 1, the next migration restores or deletes them.
  case migrations(Int)

  /// The condition that something parked has expired; nil if nothing expires.
  func condition(now: Date) -> SharedSQL? {
    switch self {
    case .unlimited: nil
    case .seconds(let seconds):
      .parkedBefore(Int64(clamping: Int((now.timeIntervalSinceReferenceDate - max(seconds, 0)).rounded(.up))))
    case .migrations(let count): .parkedMigrationsAgo(Int64(max(count, 0)) + 1)
    }
  }
}
