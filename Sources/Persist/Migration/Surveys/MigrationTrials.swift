package import Foundation

/// Copies of a store that were migrated in different ways, for comparing them with each other and with the store.
package struct MigrationTrials: Sendable {
  package let inPlace: URL
  package let copied: URL
  /// A copy with the content before the migration; nil if nothing is parked, or if the migration deletes parked values
  /// because of their age.
  package let original: URL?
  /// The version of the migrated copies.
  package let version: ModelVersion
  package let registry: ModelRegistry?
}
