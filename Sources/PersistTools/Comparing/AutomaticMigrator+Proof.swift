import Foundation
public import Persist

extension AutomaticMigrator {
  /// Returns a migrator that proves each migration in place before committing it.
  ///
  /// While the store is locked, two copies of it are migrated: one in place, the other by copying, which shares no code
  /// that writes. All objects are compared, and everything that former migrations parked. If a value differs or is
  /// missing, nothing is committed, and the store remains unchanged.
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
  ///   writes one copy anew and reads every object of both. It needs the disk space of up to four copies.
  public func provingInPlace() -> AutomaticMigrator {
    var migrator = self
    migrator.compareWays = { inPlace, copied in
      let ways = try [inPlace, copied].map { try StoreContents(readingStoreAt: $0, registry: nil) }
      let comparison = StoreComparison(ways[0], ways[1])
      let (objects, values) = try comparison.run { difference in
        PersistenceError(
          .migrationFailed, at: difference.place,
          "Migrating in place and migrating by copying have different results: "
            + "\(difference.words("in place", "by copying")). The store is unchanged.",
          fix: "Look for damage with 'persist check'; if there is none, please report it with both models.")
      }
      // In place, a migration can park more: also what a default would replace on the way back.
      let parked = try ways.map { try $0.parkedMarks() }
      if let loss = parked[1].firstLoss(in: parked[0]) {
        throw PersistenceError(
          .migrationFailed, at: .store(inPlace),
          "Migrating in place would lose parked values that remain when copying: \(loss). The store is unchanged.",
          fix: "Please report it with both models. Migrating with a copy keeps the values.")
      }
      return MigrationProof(objects: objects, values: values)
    }
    return migrator
  }
}

extension StoreContents {
  fileprivate func parkedMarks() throws -> ParkedMarks {
    let location = StoreLocation(store.url)
    return try location.engine.inspect(location, options: StoreOptions()) { try ParkedMarks($0) }
  }
}
