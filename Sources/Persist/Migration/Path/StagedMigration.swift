/// A migration in stages: versions that follow from the models alone, and between them stages with work in code.
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
/// All stages are done in a file beside the store, which becomes its content in the end. Killed at any instant, the
/// store has the first version or the last.
public struct StagedMigration: Sendable {
  /// Work on the store at a version; what it changes is saved when it returns. What it throws ends the migration, and
  /// the store stays as it was.
  public typealias Block = @Sendable (ManagedObjectContext) throws -> Void

  /// A part of the way.
  public struct Stage: Sendable {
    let versions: [ModelVersion]
    let willMigrate: Block?
    let didMigrate: Block?
    let isCustom: Bool

    /// Versions each of which follows from the one before.
    public static func lightweight(_ versions: [ModelVersion]) -> Stage {
      Stage(versions: versions, willMigrate: nil, didMigrate: nil, isCustom: false)
    }

    /// One hop with work before and after it.
    ///
    /// - Parameters:
    ///   - willMigrate: gets the store at the first version.
    ///   - didMigrate: gets the store at the second.
    public static func custom(
      from source: ModelVersion, to destination: ModelVersion, willMigrate: Block? = nil, didMigrate: Block? = nil
    ) -> Stage {
      Stage(versions: [source, destination], willMigrate: willMigrate, didMigrate: didMigrate, isCustom: true)
    }
  }

  public let stages: [Stage]
  /// All versions, from the first to the last.
  let versions: [ModelVersion]

  /// - Throws: ``PersistenceError/Code/invalidRequest`` where two stages end at the same version.
  public init(_ stages: [Stage]) throws {
    var ends: [ManagedObjectModel] = []
    for end in stages.compactMap(\.versions.last) {
      guard !ends.contains(where: { $0.fingerprints == end.model.fingerprints }) else {
        throw PersistenceError(
          .invalidRequest, "Two stages end at the version '\(end.name)'.", fix: "Let every stage lead to another one.")
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

  /// The versions from one to another; nil where the stages don't lead from the one to the other.
  func path(from source: ModelVersion, to destination: ModelVersion) -> [ModelVersion]? {
    func place(_ version: ModelVersion) -> Int? {
      versions.firstIndex { $0.model === version.model }
        ?? versions.firstIndex { $0.model.fingerprints == version.model.fingerprints }
    }
    guard let start = place(source), let end = place(destination), start < end else { return nil }
    return [source] + versions[(start + 1)..<end] + [destination]
  }

  func customStage(from source: ModelVersion, to destination: ModelVersion) -> Stage? {
    stages.first { stage in
      stage.isCustom && stage.versions[0].model.fingerprints == source.model.fingerprints
        && stage.versions[1].model.fingerprints == destination.model.fingerprints
    }
  }
}

extension StoreOptions {
  /// Brings older stores to the coordinator's version by stages.
  public static func stagedMigration(_ staged: StagedMigration) -> StoreOptions {
    StoreOptions(migrator: AutomaticMigrator(staged: staged))
  }
}
