import Foundation
import Persist

/// The settings of a migration that failed, as a capsule contains them.
struct CapsuleSettings: Hashable {
  /// The name of the target version; nil for the current one.
  var to: String?
  var copies = false
  var allowsLoss = false
  var defersWork = false
  var discards = false
}

/// The failure of a migration: the error, and the step at which it occurred.
struct FailedStep {
  let error: PersistenceError
  /// The work during which it failed: reading the models, planning, or a pass of the migration.
  let pass: String
  /// The entity and the statement or mapping, if a pass had begun.
  let entity: String?
  let work: String?

  /// Whether this is the same failure, apart from values in the words.
  func isSame(as other: FailedStep) -> Bool {
    error.code == other.error.code && error.place.entity == other.error.place.entity
      && error.place.property == other.error.place.property && pass == other.pass && entity == other.entity
      && work == other.work && error.errors.map(\.code) == other.error.errors.map(\.code)
  }

  /// The step in words.
  var step: String { ([pass, entity].compactMap { $0 } + (work.map { [": \($0)"] } ?? [])).joined(separator: " ") }
}

/// Migrates a store in order to see how it fails.
struct MigrationAttempt {
  let models: URL
  let settings: CapsuleSettings

  /// - Returns: The plan, if there could be one, and the failure; nil if the migration succeeds.
  func run(storeAt url: URL) throws -> (plan: MigrationPlan?, failure: FailedStep?) {
    // The handler may be called on any thread.
    let last = LockProtected<MigrationProgress?>(nil)
    var pass = "reading the models"
    var plan: MigrationPlan?
    do {
      let registry = try ModelRegistry(contentsOf: models, needsCurrent: settings.to == nil)
      pass = "planning"
      let family = try StoreIdentification.identify(storeAt: url, registry: registry).family
      let version =
        if let name = settings.to {
          try family?.version(named: name) ?? registry.version(named: name)
        } else {
          try family?.current ?? registry.onlyFamily.current
        }
      var migrator = AutomaticMigrator(
        allowsLoss: settings.allowsLoss, downgrade: settings.allowsLoss ? .withLoss : .withoutLoss,
        alwaysCopies: settings.copies
      ) { progress in
        last.withLock { $0 = progress }
        return true
      }
      migrator.defersWork = settings.defersWork
      migrator.parking = settings.discards ? .discarding : settings.allowsLoss ? .always : .olderVersions
      plan = try MigrationPlan(storeAt: url, to: version, registry: registry, migrator: migrator)
      try migrator.migrate(storeAt: url, to: version, registry: registry)
      return (plan, nil)
    } catch let error as PersistenceError {
      guard let progress = last.withLock({ $0 }) else {
        return (plan, FailedStep(error: error, pass: pass, entity: nil, work: nil))
      }
      let work = progress.current.isEmpty ? nil : progress.current
      return (plan, FailedStep(error: error, pass: progress.pass.rawValue, entity: progress.entity, work: work))
    }
  }
}
