/// A migration in stages: versions migrated by inference, and stages with custom code between them.
///
/// ```swift
/// let staged = try StagedMigration([
///   .custom(from: pets1, to: pets2, didMigrate: { context in
///     for user in try context.fetch(FetchRequest("User")) {
///       let pet = try context.create("Pet")
///       pet["name"] = user["petName"]
///       pet["owner"] = user
///     }
///   }),
///   .lightweight([pets2, pets3]),
/// ])
/// try coordinator.addStore(at: url, options: .stagedMigration(staged))
/// ```
///
/// A store whose version no stage lists, or a coordinator with such a version, is related to the stages by the order of
/// the registry's versions: the models determine the hops to the first stage that the store needs, and from the last.
/// A migration that may need a custom stage is refused if the order isn't known.
///
/// All stages run in a file beside the store, which replaces its content at the end. If the process is killed at any
/// time, the store has either the first version or the last.
public struct StagedMigration: Sendable {
  /// Custom work on the store at a version; its changes are saved when it returns. A thrown error aborts the migration,
  /// and the store remains unchanged.
  public typealias Block = @Sendable (ManagedObjectContext) throws -> Void

  /// A section of the path.
  public struct Stage: Sendable {
    let versions: [ModelVersion]
    let willMigrate: Block?
    let didMigrate: Block?
    let isCustom: Bool

    /// A sequence of versions, each inferred from the previous one.
    public static func lightweight(_ versions: [ModelVersion]) -> Stage {
      Stage(versions: versions, willMigrate: nil, didMigrate: nil, isCustom: false)
    }

    /// One hop with custom work before and after it.
    ///
    /// - Parameters:
    ///   - source: the version before the stage.
    ///   - destination: the version after it.
    ///   - willMigrate: called with the store at the first version.
    ///   - didMigrate: called with the store at the second version.
    public static func custom(
      from source: ModelVersion, to destination: ModelVersion, willMigrate: Block? = nil, didMigrate: Block? = nil
    ) -> Stage {
      Stage(versions: [source, destination], willMigrate: willMigrate, didMigrate: didMigrate, isCustom: true)
    }
  }

  /// The stages in the order of execution.
  public let stages: [Stage]
  /// All versions, from the first to the last.
  let versions: [ModelVersion]
  /// The class of the objects in the contexts of blocks.
  package var objectClass: ManagedObject.Type = ManagedObject.self

  /// - Throws: ``PersistenceError/Code/invalidRequest`` if two stages end at the same version.
  public init(_ stages: [Stage]) throws {
    var ends: [ManagedObjectModel] = []
    for end in stages.compactMap(\.versions.last) {
      guard !ends.contains(where: { $0.fingerprints == end.model.fingerprints }) else {
        throw PersistenceError(
          .invalidRequest, "Two stages end at the version '\(end.name)'.",
          fix: "Give each stage a different destination version.")
      }
      ends.append(end.model)
    }
    self.stages = stages
    var versions: [ModelVersion] = []
    for version in stages.flatMap(\.versions)
    where versions.last.map({ $0.model.fingerprints != version.model.fingerprints }) ?? true {
      versions.append(version)
    }
    self.versions = versions
  }

  func customStage(from source: ModelVersion, to destination: ModelVersion) -> Stage? {
    stages.first { stage in
      stage.isCustom && stage.versions[0].model.fingerprints == source.model.fingerprints
        && stage.versions[1].model.fingerprints == destination.model.fingerprints
    }
  }
}
