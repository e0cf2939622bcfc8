import Foundation

/// Migrating copies in both ways, before the store itself is changed.
extension AutomaticMigrator {
  /// Migrates two copies of the store, one in place and one by copying, and compares them. If anything is parked in
  /// the store or the copies, another copy of the store isn't migrated.
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
    try engine.requireDiskSpace(for: location, bytes: ExtraSpace.copies(5, ofSize: engine.size(of: location)))
    var parksAny = try !location.inspect(options: request.options) { try $0.parkedSlots() }.isEmpty
    let copies = try [false, true].enumerated().map { number, alwaysCopies in
      let copy = try workspace.file(number)
      try engine.duplicate(location, to: StoreLocation(copy))
      var migrator = self
      migrator.compareWays = nil
      migrator.progress = nil
      migrator.countsRows = false
      migrator.isTrial = true
      migrator.alwaysCopies = alwaysCopies
      // Losses have already been accepted or refused.
      migrator.allowsLoss = true
      migrator.downgrade = .withLoss
      // Parked values aren't visible in the version that they are parked for.
      if migrator.parking == .olderVersions { migrator.parking = .none }
      let report = try migrator.migrate(
        storeAt: copy, to: request.version, registry: request.resources.pathRegistry)
      if report.parked > 0 { parksAny = true }
      return copy
    }
    var original: URL?
    if parksAny, parking != .discarding, parkedLifetime == .unlimited {
      let copy = try workspace.file(copies.count)
      try engine.duplicate(location, to: StoreLocation(copy))
      original = copy
    }
    do {
      return try compareWays(
        MigrationTrials(
          inPlace: copies[0], copied: copies[1], original: original, version: request.version,
          registry: request.resources.pathRegistry))
    } catch var error as PersistenceError {
      error.place.store = url
      throw error
    }
  }
}
