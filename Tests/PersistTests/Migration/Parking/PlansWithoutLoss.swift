import Foundation

@testable import Persist
@testable import PersistCore
@testable import PersistModel

extension AutomaticMigrator {
  /// Whether the migration of a store is possible and loses nothing; false if its names have several meanings.
  func canMigrateWithoutLoss(
    storeAt url: URL, to version: ModelVersion, registry: ModelRegistry
  ) throws -> Bool {
    do {
      let plan = try MigrationPlan(storeAt: url, to: version, registry: registry, migrator: self)
      return plan.blockers.isEmpty && plan.losses.isEmpty
    } catch let error as PersistenceError where error.code == .mappingAmbiguous {
      return false
    }
  }
}
