import Foundation
public import Persist

extension AutomaticMigrator {
  /// Returns a migrator that proves each migration in place before committing it.
  ///
  /// While the store is locked, two copies of it are migrated: one in place, the other by copying, which shares no code
  /// that writes. All objects are compared, and everything that former migrations parked. Parked values are also
  /// compared with the store: what was parked remains parked or comes back, and what the migration parks has the
  /// store's values. If a value differs or is missing, nothing is committed, and the store remains unchanged.
  /// A migration that has to copy can't be proved this way, and neither can custom code.
  ///
  /// ```swift
  /// let report = try AutomaticMigrator().provingInPlace().migrate(storeAt: url, to: version, registry: registry)
  /// print(report.proof?.values ?? 0)
  /// ```
  ///
  /// - Returns: a migrator with the same settings otherwise; migrating throws
  ///   ``PersistenceError/Code/migrationFailed`` with the first difference.
  /// - Complexity: linear in the size of the store, even if the migration itself is not: it copies the store twice,
  ///   writes one copy anew and reads every object of both. It needs the disk space of up to five copies.
  public func provingInPlace() -> AutomaticMigrator {
    var migrator = self
    migrator.compareWays = { trials in
      let ways = try [trials.inPlace, trials.copied].map { try StoreContents(readingStoreAt: $0, registry: nil) }
      let comparison = StoreComparison(ways[0], ways[1])
      let (objects, values) = try comparison.run { difference in
        PersistenceError(
          .migrationFailed, at: difference.place,
          "Migrating in place and migrating by copying have different results: "
            + "\(difference.words("in place", "by copying")). The store is unchanged.",
          fix: "Look for damage with 'persist check'; if there is none, please report it with both models.")
      }
      // Only the reverse is a loss: in place, a migration may park more, such as missing values that a default would
      // replace on the way back.
      let parked = try ways.map { try $0.inspect { try ParkedMarks($0) } }
      if let loss = parked[1].firstLoss(in: parked[0]) {
        throw PersistenceError(
          .migrationFailed, at: .store(trials.inPlace),
          "Migrating in place would lose parked values that remain when copying: \(loss). The store is unchanged.",
          fix: "Please report it with both models. Migrating with a copy keeps the values.")
      }
      if let original = trials.original {
        let before = try StoreContents(readingStoreAt: original, registry: trials.registry)
        if let loss = try trials.firstParkedLoss(from: before, to: ways[0], parked[0]) {
          throw PersistenceError(
            .migrationFailed, at: .store(original),
            "Migrating would lose values, neither parked nor in the new version: \(loss). The store is unchanged.",
            fix: "Please report it with both models.")
        }
      }
      return MigrationProof(objects: objects, values: values)
    }
    return migrator
  }
}

extension MigrationTrials {
  /// The first parked values, objects or pairs of a store that its migrated copy lacks, in words; nil if it has all.
  ///
  /// - Parameter parked: The parked values of the copy.
  fileprivate func firstParkedLoss(
    from before: StoreContents, to after: StoreContents, _ parked: ParkedMarks
  ) throws -> String? {
    try before.inspect { source in
      try after.inspect { result in
        if let reader = try ParkedReader(source, of: before.model, registry: registry) {
          let returns = try ParkedReturns(
            from: before, in: source, reader: reader, to: after, in: result, parked: parked, by: self)
          if let loss = try returns.firstLoss() { return loss }
        }
        guard let reader = try ParkedReader(result, of: after.model, registry: registry) else { return nil }
        return try ParkedArrivals(from: before, parked: ParkedMarks(source), to: after, reader: reader, in: result)
          .firstLoss()
      }
    }
  }
}

extension StoreContents {
  /// Runs code that reads the store's tables.
  fileprivate func inspect<T>(_ body: (any StoreInspector) throws -> T) throws -> T {
    try StoreLocation(store.url).inspect(body)
  }
}
