import Foundation

/// Migrates stores to the coordinator's model when they are opened: compares, plans, migrates.
///
/// A migration that can be inferred from the models is one hop, directly from the store's model to the coordinator's,
/// in place, in one transaction. Each mapping model and each stage with custom code is a separate hop; all work is then
/// done in a file beside the store, which replaces its content at the end. Either way the store always ends up
/// complete: the old version or the new one. A migration that isn't possible is rejected with all its obstacles, and
/// the store remains unchanged.
///
/// ```swift
/// try coordinator.addStore(at: url, options: .automaticMigration)
///
/// let careful = AutomaticMigrator(allowsLoss: false) { progress in
///   print(progress.fraction)
///   return true
/// }
/// try coordinator.addStore(at: url, options: StoreOptions(migrator: careful))
/// ```
public struct AutomaticMigrator: Sendable {
  /// Called as the migration proceeds; returning false cancels it, and the store remains unchanged.
  public typealias ProgressHandler = @Sendable (MigrationProgress) -> Bool

  /// Whether a store that is newer than the target version may be migrated back.
  ///
  /// A store is newer according to the models that it has had; if its model is unknown, also according to a greater
  /// version number. The order of a registry's versions is irrelevant.
  public enum Downgrade: Sendable, Hashable {
    /// Never; the store is rejected with ``PersistenceError/Code/newerStore``.
    case refused
    /// Only if no value is lost, as in Core Data; otherwise the store is rejected with
    /// ``PersistenceError/Code/newerStore``.
    case withoutLoss
    /// Even if the older version has no place for some values.
    case withLoss
  }

  /// Whether the new model may lack a place for existing values; by default they are then parked (``parking``). If not,
  /// such a migration is rejected, and so is a store with values that the types of the model's classes can't read, even
  /// if it needs no migration: see ``MigrationPlan/unreadable``.
  ///
  /// Such values are looked for whenever the store is opened, in time proportional to the rows with attributes whose
  /// types may refuse a value: enumerations, composites, JSON values and types with their own conversion.
  public var allowsLoss: Bool
  /// The treatment of stores with a newer version.
  public var downgrade: Downgrade
  /// Whether to count the store's rows for the report, which takes time proportional to their number.
  public var countsRows: Bool
  /// Called as migrations proceed; nil for none. Returning false cancels the migration.
  public var progress: ProgressHandler?
  /// Mapping models built in code; they take precedence over those found by the registry.
  public var mappingModels: [MappingModel]
  /// The policy classes that mapping models name.
  public var policies: MigrationPolicies
  /// Stages with custom code; nil for none.
  public var staged: StagedMigration?
  /// Whether to copy the store to a new file even if it could be migrated in place.
  public var alwaysCopies: Bool
  /// Whether steps that aren't urgent are deferred until
  /// ``PersistentStoreCoordinator/finishDeferredMigration(within:)``: dropping columns of removed attributes, creating
  /// indexes that only speed up fetching, and converting the values of large tables (``deferralBudget``). Until then
  /// the store is complete and fully usable. Applies only to migrations in place; a new file has nothing to defer. The
  /// index of a uniqueness constraint isn't deferred.
  public var defersWork = false
  /// The time for which a migration that defers work may hold a file to convert values; 20 milliseconds by default.
  ///
  /// If converting all values would take longer, according to the number of rows, the migration doesn't wait for it:
  /// the store opens with the new model, reading a row computes its new values, writing a row converts it, and
  /// ``PersistentStoreCoordinator/finishDeferredMigration(within:)`` converts the other rows in transactions of a few
  /// milliseconds each. The article about plans and progress lists the changes that qualify; the others keep the one
  /// transaction, as does every migration of a store on a server.
  public var deferralBudget = Duration.milliseconds(20)
  /// The treatment of values that the new version has no place for; ``MigrationParking/always`` by default: an
  /// automatic migration destroys nothing.
  ///
  /// Parked values are restored whatever this is set to, except ``MigrationParking/discarding``.
  public var parking = MigrationParking.always
  /// The values that the caller restores after the migration, in the store that the migrated one replaces.
  var returning: ParkedReturn?
  /// The time for which values remain parked before they are deleted; ``ParkedLifetime/unlimited`` by default.
  public var parkedLifetime = ParkedLifetime.unlimited
  /// Whether hops may be inferred from the models. If not, as in Core Data without
  /// `NSInferMappingModelAutomaticallyOption`, a hop without a mapping model or a stage is rejected with
  /// ``PersistenceError/Code/missingMappingModel``.
  public var infersMapping = true
  /// The number of retries if other processes held the store or the work was interrupted. Together they wait for other
  /// processes only a little longer than ``StoreOptions/busyTimeout``.
  public var retries = 2
  /// Creates the manager for running a mapping model, for example a subclass that implements functions of its
  /// expressions; nil for a plain `MigrationManager`.
  public var managerFactory: (@Sendable (ManagedObjectModel, ManagedObjectModel) -> MigrationManager)?

  /// Compares copies of the store that were migrated in both ways before a migration in place is committed; nil for no
  /// comparison. Only a higher layer can read objects.
  package var compareWays: (@Sendable (MigrationTrials) throws -> MigrationProof)?

  /// Whether a warning in the log says what was parked; false for callers that say it themselves.
  package var logsParkedValues = true

  /// Whether a copy is migrated that is deleted afterward.
  var isTrial = false

  /// Creates a migrator. Each argument sets the property of the same name.
  public init(
    allowsLoss: Bool = true, downgrade: Downgrade = .withoutLoss, countsRows: Bool = false,
    mappingModels: [MappingModel] = [], policies: MigrationPolicies = [], staged: StagedMigration? = nil,
    alwaysCopies: Bool = false, infersMapping: Bool = true, progress: ProgressHandler? = nil
  ) {
    self.allowsLoss = allowsLoss
    self.downgrade = downgrade
    self.countsRows = countsRows
    self.mappingModels = mappingModels
    self.policies = policies
    self.staged = staged
    self.alwaysCopies = alwaysCopies
    self.infersMapping = infersMapping
    self.progress = progress
  }

  package func resources(_ registry: ModelRegistry?) -> MigrationResources {
    MigrationResources(
      registry: registry, mappingModels: mappingModels, policies: policies, staged: staged, alwaysCopies: alwaysCopies,
      infersMapping: infersMapping, defersWork: defersWork, deferralBudget: deferralBudget, parking: effectiveParking,
      returning: returning)
  }

  /// The resources of a migration that the models alone determine.
  func inPlaceResources(_ registry: ModelRegistry?) -> MigrationResources {
    MigrationResources(
      registry: registry, defersWork: defersWork, deferralBudget: deferralBudget, parking: effectiveParking)
  }

  /// The treatment of values without a place: nothing is parked for a migration that is rejected instead.
  var effectiveParking: MigrationParking { !allowsLoss && parking == .always ? .none : parking }

  func makeManager(_ source: ManagedObjectModel, _ destination: ManagedObjectModel) -> MigrationManager {
    managerFactory?(source, destination) ?? MigrationManager(sourceModel: source, destinationModel: destination)
  }
}

extension StoreOptions {
  /// Opens stores of the current version, and migrates others to it; newer ones only if nothing is lost
  /// (``AutomaticMigrator/Downgrade/withoutLoss``).
  public static var automaticMigration: StoreOptions { StoreOptions(migrator: AutomaticMigrator()) }

  /// Like ``automaticMigration``, but defers work that isn't urgent.
  public static var automaticMigrationDeferringWork: StoreOptions {
    var migrator = AutomaticMigrator()
    migrator.defersWork = true
    return StoreOptions(migrator: migrator)
  }

  /// Like ``automaticMigration``, but rejects a migration that would destroy values, and stores with values that the
  /// types of the model's classes can't read: see ``AutomaticMigrator/allowsLoss``.
  public static var refusingLoss: StoreOptions {
    StoreOptions(migrator: AutomaticMigrator(allowsLoss: false))
  }

  /// Migrates older stores to the coordinator's version in stages.
  public static func stagedMigration(_ staged: StagedMigration) -> StoreOptions {
    StoreOptions(migrator: AutomaticMigrator(staged: staged))
  }
}
