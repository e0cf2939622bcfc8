import Foundation

/// The store, the target and the means of one migration, which all its steps know.
struct MigrationRequest {
  let url: URL
  /// The target version.
  let version: ModelVersion
  let resources: MigrationResources
  /// The timeout and pragmas for the work.
  var options: StoreOptions

  var location: StoreLocation { StoreLocation(url) }
}
