public import Foundation
import Persist

/// A model of a stage.
// Unchecked: immutable.
public final class NSManagedObjectModelReference: NSObject, @unchecked Sendable {
  public let resolvedModel: NSManagedObjectModel
  public let versionChecksum: String

  public init(model: NSManagedObjectModel, versionChecksum: String) {
    resolvedModel = model
    self.versionChecksum = versionChecksum
  }

  public convenience init(fileURL: URL, versionChecksum: String) {
    let model = NSManagedObjectModel(contentsOf: fileURL) ?? NSManagedObjectModel()
    self.init(model: model, versionChecksum: versionChecksum)
  }

  /// - Parameter name: The name of a version's file, without extension.
  public convenience init(name: String, in bundle: Bundle?, versionChecksum: String) {
    let model = ModelFile.version(named: name, in: bundle.map { [$0] }) ?? NSManagedObjectModel()
    self.init(model: model, versionChecksum: versionChecksum)
  }
}

// Unchecked: stages aren't changed once a store is opened with them.
open class NSMigrationStage: NSObject, @unchecked Sendable {
  open var label: String?
}

/// Steps that are inferred. Versions are found by the order of the other stages, because checksums are Apple's own.
open class NSLightweightMigrationStage: NSMigrationStage, @unchecked Sendable {
  public let versionChecksums: [String]

  public init(_ versionChecksums: [String]) { self.versionChecksums = versionChecksums }
}

open class NSCustomMigrationStage: NSMigrationStage, @unchecked Sendable {
  public typealias Handler = (NSStagedMigrationManager, NSCustomMigrationStage) throws -> Void
  public let currentModel: NSManagedObjectModelReference
  public let nextModel: NSManagedObjectModelReference
  open var willMigrateHandler: Handler?
  open var didMigrateHandler: Handler?

  public init(
    migratingFrom current: NSManagedObjectModelReference, to next: NSManagedObjectModelReference
  ) {
    currentModel = current
    nextModel = next
  }
}

// Unchecked: the container is set by the thread that runs the migration.
open class NSStagedMigrationManager: NSObject, @unchecked Sendable {
  public let stages: [NSMigrationStage]
  /// The store at the version of the running stage.
  public private(set) var container: NSPersistentContainer?

  public init(_ stages: [NSMigrationStage]) { self.stages = stages }

  func migrator() throws -> AutomaticMigrator {
    var migrator = AutomaticMigrator()
    let custom = try stages.compactMap { $0 as? NSCustomMigrationStage }.map { stage in
      StagedMigration.Stage.custom(
        from: try Self.version(stage.currentModel), to: try Self.version(stage.nextModel),
        willMigrate: stage.willMigrateHandler.map { block($0, stage, stage.currentModel) },
        didMigrate: stage.didMigrateHandler.map { block($0, stage, stage.nextModel) })
    }
    var staged = try StagedMigration(custom)
    staged.objectClass = NSManagedObject.self
    migrator.staged = staged
    migrator.managerFactory = { MigrationManagerBridge.automatic($0, $1) }
    migrator.policies = MigrationPolicyBridge.policies
    return migrator
  }

  private static func version(_ reference: NSManagedObjectModelReference) throws -> ModelVersion {
    let model = try reference.resolvedModel.persistModel()
    return reference.resolvedModel.registry?.version(of: model)
      ?? ModelVersion(name: reference.versionChecksum, model: model)
  }

  private func block(
    _ handler: @escaping NSCustomMigrationStage.Handler, _ stage: NSCustomMigrationStage,
    _ reference: NSManagedObjectModelReference
  ) -> StagedMigration.Block {
    let handler = Transferred(handler)
    return { context in
      self.container = NSPersistentContainer(stage: context, model: reference.resolvedModel)
      defer { self.container = nil }
      try handler.value(self, stage)
    }
  }
}
