import Foundation

/// Migrating copies in both ways, before the store itself is changed.
extension AutomaticMigrator {
  /// Migrates two copies of the store, one in place and one by copying, and compares them.
  ///
  /// The caller holds the write lock and hasn't written yet, so that the copies have the content that is migrated
  /// afterward.
  ///
  /// - Returns: nil if no comparison is requested.
  func prove(_ request: MigrationRequest, _ workspace: any MigrationWorkspace) throws -> MigrationProof? {
    guard let compareWays else { return nil }
    let url = request.url
    guard url.isFileURL else {
      throw PersistenceError(
        .invalidRequest, at: .store(url), "A migration is proved on copies, and only a store in a file is copied.",
        fix: "Migrate it without a proof.")
    }
    let location = request.location
    let engine = try location.engine
    try engine.requireDiskSpace(for: location, bytes: ExtraSpace.copies(4, ofSize: engine.size(of: location)))
    let copies = try [false, true].enumerated().map { number, alwaysCopies in
      let copy = try workspace.file(number)
      try engine.duplicate(location, to: StoreLocation(copy))
      var migrator = self
      migrator.compareWays = nil
      migrator.progress = nil
      migrator.countsRows = false
      migrator.isTrial = true
      migrator.alwaysCopies = alwaysCopies
      // Losses were accepted or refused before.
      migrator.allowsLoss = true
      migrator.downgrade = .withLoss
      // Parked values aren't visible in the version that they are parked for.
      if migrator.parking == .olderVersions { migrator.parking = .none }
      try migrator.migrate(storeAt: copy, to: request.version, registry: request.resources.pathRegistry)
      return copy
    }
    do {
      return try compareWays(copies[0], copies[1])
    } catch var error as PersistenceError {
      error.place.store = url
      throw error
    }
  }
}
