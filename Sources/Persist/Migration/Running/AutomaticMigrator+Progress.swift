public import Foundation

extension AutomaticMigrator {
  /// Creates a migrator that reports to a `Progress`; canceling the progress cancels the migration.
  ///
  /// Its units take about the same time each. If it has a parent progress, that is updated as well.
  public init(allowsLoss: Bool = true, reportingTo progress: Progress) {
    self.init(allowsLoss: allowsLoss)
    report(to: progress)
  }

  /// Reports the migration's progress to a `Progress`, replacing ``progress``.
  public mutating func report(to progress: Progress) {
    self.progress = { state in
      progress.totalUnitCount = state.total
      progress.completedUnitCount = state.completed
      let seconds = state.timeLeft.map { $0 / .seconds(1) }
      progress.setUserInfoObject(seconds, forKey: .estimatedTimeRemainingKey)
      return !progress.isCancelled
    }
  }

  /// Migrates a store, and reports its progress as an asynchronous sequence.
  ///
  /// The work starts on a separate thread when the first element is requested, and the sequence ends when the store has
  /// the new version. Ending the iteration early, or canceling its task, cancels the migration, and the store remains
  /// unchanged.
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
