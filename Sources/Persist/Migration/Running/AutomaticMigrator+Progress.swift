public import Foundation

extension AutomaticMigrator {
  /// Tells a `Progress` how far the migration is; cancelling that cancels the migration.
  ///
  /// Its units are rows. Where another progress is its parent, that one moves along.
  public init(allowsLoss: Bool = true, reportingTo progress: Progress) {
    self.init(allowsLoss: allowsLoss)
    report(to: progress)
  }

  /// Tells a `Progress` how far the migration is, in the place of ``progress``.
  public mutating func report(to progress: Progress) {
    self.progress = { state in
      progress.totalUnitCount = state.total
      progress.completedUnitCount = state.completed
      let seconds = state.timeLeft.map { $0 / .seconds(1) }
      progress.setUserInfoObject(seconds, forKey: .estimatedTimeRemainingKey)
      return !progress.isCancelled
    }
  }

  /// Migrates a store, and tells how far it is as an asynchronous sequence.
  ///
  /// The work begins with the first element that is asked for, on a thread of its own, and the sequence ends when the
  /// store has the new version. Whoever stops iterating, or is cancelled, cancels the migration, and the store stays as
  /// it was.
  ///
  /// ```swift
  /// for try await progress in AutomaticMigrator().events(migrating: url, to: version, registry: registry) {
  ///   print(progress.hop.number, progress.pass.rawValue, progress.entity ?? "", progress.fraction)
  /// }
  /// ```
  public func events(
    migrating url: URL, to version: ModelVersion, registry: ModelRegistry?, options: StoreOptions = StoreOptions()
  ) -> MigrationEvents {
    MigrationEvents(migrator: self, url: url, version: version, registry: registry, options: options)
  }
}
