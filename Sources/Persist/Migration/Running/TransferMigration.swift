import Foundation

/// Migrates a store whose engine doesn't copy by itself: in a file, whose content then replaces the store's.
///
/// From the beginning of the copy to the end of the exchange, which is one transaction, nobody can write to the store.
/// If anything fails, the store is unchanged.
struct TransferMigration {
  let url: URL
  let destination: ModelVersion
  let registry: ModelRegistry?
  let options: StoreOptions
  let migrator: AutomaticMigrator
  /// The survey that the decision to migrate was based on.
  let survey: PathSurvey
  let exclusion: any StoreExclusion

  func run() throws -> MigrationReport {
    defer { exclusion.end() }
    guard try exclusion.isCurrent(survey.store.catalog) else {
      throw PersistenceError(
        .storeBusy, at: .store(url), "Another program migrated the store at the same time.", fix: "Try again.")
    }
    try refuseUnknownRows()
    let folder = try TemporaryFolder.make()
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appendingPathComponent("Store.sqlite")
    try StoreCopies.replaceStore(
      at: .file(file), with: StoreLocation(url), discardingParked: migrator.parking == .discarding)
    let report = try migrator.migrate(
      storeAt: file, to: destination, registry: registry, options: StoreOptions(busyTimeout: options.busyTimeout))
    try StoreCopies.withCopy(of: .file(file), beside: StoreLocation(url)) { copy, _ in
      try exclusion.replaceStore(withCopyAt: copy)
    }
    return report
  }

  /// Refuses rows of no entity, which the file wouldn't contain.
  private func refuseUnknownRows() throws {
    let location = StoreLocation(url)
    try location.engine.inspect(location, options: options) { inspector in
      for unknown in survey.store.tableMap.unknownRows {
        try inspector.requireNone(unknown.count, else: unknown.blocker)
      }
    }
  }
}
