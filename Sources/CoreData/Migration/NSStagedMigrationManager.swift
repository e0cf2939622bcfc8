public import Foundation
import Persist

// Unchecked: immutable.
/// A model of a stage.
public final class NSManagedObjectModelReference: NSObject, @unchecked Sendable {
  /// The model.
  public let resolvedModel: NSManagedObjectModel
  /// The model's checksum, as Xcode shows it.
  public let versionChecksum: String

  /// Refers to a model.
  public init(model: NSManagedObjectModel, versionChecksum: String) {
    resolvedModel = model
    self.versionChecksum = versionChecksum
  }

  /// Refers to the model in a file.
  public convenience init(fileURL: URL, versionChecksum: String) {
    let model = NSManagedObjectModel(contentsOf: fileURL) ?? NSManagedObjectModel()
    self.init(model: model, versionChecksum: versionChecksum)
  }

  /// Refers to a version by the name of its file.
  ///
  /// - Parameters:
  ///   - name: The name of a version's file, without extension.
  ///   - bundle: The bundle with the model; nil for all.
  ///   - versionChecksum: The model's checksum, as Xcode shows it.
  public convenience init(name: String, in bundle: Bundle?, versionChecksum: String) {
    let model = ModelFile.version(named: name, in: bundle.map { [$0] }) ?? NSManagedObjectModel()
    self.init(model: model, versionChecksum: versionChecksum)
  }

  /// Refers to a version by the hashes of its entities.
  public convenience init(entityVersionHashes: [AnyHashable: Any], in bundle: Bundle?, versionChecksum: String) {
    let model = NSManagedObjectModel.mergedModel(
      from: bundle.map { [$0] }, forStoreMetadata: [NSStoreModelVersionHashesKey: entityVersionHashes])
    self.init(model: model ?? NSManagedObjectModel(), versionChecksum: versionChecksum)
  }
}

// Unchecked: stages aren't changed once a store is opened with them.
/// A step of a staged migration.
open class NSMigrationStage: NSObject, @unchecked Sendable {
  /// A name for the application's own purposes.
  open var label: String?
}

// Unchecked: as its superclass is.
/// Steps that are inferred. Versions are found by checksums of this module's models and those that references name, and
/// otherwise by the order of the other stages, because the checksums that Xcode shows are Apple's own.
open class NSLightweightMigrationStage: NSMigrationStage, @unchecked Sendable {
  /// The checksums of the stage's versions.
  public let versionChecksums: [String]

  /// Creates a stage or a manager of stages.
  public init(_ versionChecksums: [String]) { self.versionChecksums = versionChecksums }
}

// Unchecked: as its superclass is.
/// A step between two versions, with blocks before and after it.
open class NSCustomMigrationStage: NSMigrationStage, @unchecked Sendable {
  /// A block that runs before or after a stage, with the store at ``NSStagedMigrationManager/container``.
  public typealias Handler = (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void
  /// The version before the step.
  public let currentModel: NSManagedObjectModelReference
  /// The version after the step.
  public let nextModel: NSManagedObjectModelReference
  /// Runs before the step, at the version before it.
  open var willMigrateHandler: Handler?
  /// Runs after the step, at the version after it.
  open var didMigrateHandler: Handler?

  /// Creates a stage between two versions.
  public init(
    migratingFrom current: NSManagedObjectModelReference, to next: NSManagedObjectModelReference
  ) {
    currentModel = current
    nextModel = next
  }
}

// Unchecked: the container is set by the thread that runs the migration.
/// The steps of a staged migration, which is an option of adding a store.
open class NSStagedMigrationManager: NSObject, @unchecked Sendable {
  /// The steps in their order.
  public let stages: [NSMigrationStage]
  /// The store at the version of the running stage.
  public private(set) var container: NSPersistentContainer?

  /// Creates a stage or a manager of stages.
  public init(_ stages: [NSMigrationStage]) { self.stages = stages }

  /// - Parameter model: The model to which stores are migrated.
  func migrator(to model: NSManagedObjectModel) throws -> AutomaticMigrator {
    var migrator = AutomaticMigrator()
    let known = try versions(and: model)
    let steps = try stages.compactMap { stage -> StagedMigration.Stage? in
      switch stage {
      case let stage as NSCustomMigrationStage:
        return StagedMigration.Stage.custom(
          from: try Self.version(stage.currentModel), to: try Self.version(stage.nextModel),
          willMigrate: stage.willMigrateHandler.map { block($0, of: stage, at: stage.currentModel) },
          didMigrate: stage.didMigrateHandler.map { block($0, of: stage, at: stage.nextModel) })
      case let stage as NSLightweightMigrationStage:
        let versions = stage.versionChecksums.compactMap { known[$0] }
        return versions.isEmpty ? nil : .lightweight(versions)
      default: return nil
      }
    }
    var staged = try StagedMigration(steps)
    staged.objectClass = NSManagedObject.self
    migrator.staged = staged
    migrator.managerFactory = { MigrationManagerBridge.automatic($0, $1) }
    migrator.policies = MigrationPolicyBridge.policies
    return migrator
  }

  /// The versions that the stages' references resolve and the one to which stores are migrated, by their checksums.
  private func versions(and model: NSManagedObjectModel) throws -> [String: ModelVersion] {
    let own = try model.persistModel()
    let version = model.registry?.version(of: own) ?? ModelVersion(name: model.versionName ?? "current", model: own)
    var versions = [model.versionChecksum: version]
    for case let stage as NSCustomMigrationStage in stages {
      for reference in [stage.currentModel, stage.nextModel] {
        let version = try Self.version(reference)
        versions[reference.versionChecksum] = version
        versions[reference.resolvedModel.versionChecksum] = version
      }
    }
    return versions
  }

  private static func version(_ reference: NSManagedObjectModelReference) throws -> ModelVersion {
    let model = try reference.resolvedModel.persistModel()
    return reference.resolvedModel.registry?.version(of: model)
      ?? ModelVersion(name: reference.versionChecksum, model: model)
  }

  private func block(
    _ handler: @escaping NSCustomMigrationStage.Handler, of stage: NSCustomMigrationStage,
    at reference: NSManagedObjectModelReference
  ) -> StagedMigration.Block {
    let handler = Transferred(handler)
    return { context in
      self.container = NSPersistentContainer(stage: context, model: reference.resolvedModel)
      defer { self.container = nil }
      try handler.value(self, stage)
    }
  }
}
