/// The resources of a migration besides the models: mapping models, policies, stages.
package struct MigrationResources: Sendable {
  package var registry: ModelRegistry?
  /// Mapping models built in code; they take precedence over those in files.
  var mappingModels: [MappingModel] = []
  var policies = MigrationPolicies()
  var staged: StagedMigration?
  /// Whether to copy the store to a new file even if it could be migrated in place.
  var alwaysCopies = false
  /// Whether the models alone may determine hops.
  var infersMapping = true
  /// Whether to defer steps that aren't urgent, if the whole migration is in place.
  var defersWork = false
  /// See ``AutomaticMigrator/deferralBudget``.
  var deferralBudget = Duration.milliseconds(20)
  /// The treatment of values that the new version has no place for.
  var parking = MigrationParking.none

  /// The parked values of the store that is migrated as a copy: they are restored in the store that replaces it.
  var returning: ParkedReturn?

  /// The registry in which versions are looked up: the given one, otherwise one of the stages' versions.
  package var pathRegistry: ModelRegistry? {
    guard registry == nil, let versions = staged?.versions, !versions.isEmpty else { return registry }
    return ModelRegistry(versions: versions)
  }

  /// The mapping model for the hop between two versions; nil if there is none.
  ///
  /// Several mapping models form one hop: their entity mappings run in sequence, and find each other's objects.
  func mappingModel(from source: ModelVersion, to destination: ModelVersion) throws -> MappingModel? {
    let built = mappingModels.filter { $0.isFor(from: source, to: destination) }
    let found = try built.isEmpty ? registry?.readMappingModels(from: source, to: destination) ?? [] : built
    guard var whole = found.first else { return nil }
    for part in found.dropFirst() {
      whole.name += ", \(part.name)"
      whole.entityMappings += part.entityMappings
    }
    return whole
  }

  /// The mapping models that fit no two known versions, described; empty if too little is known.
  ///
  /// - Complexity: reads every version of the registry if there are mapping models.
  func unusedMappingModels(from source: ModelVersion, to destination: ModelVersion) -> [String] {
    let unusable = mappingModels.filter(\.fitsNothing)
    guard let registry, hasMappingModels else { return unusable.map(\.unusedDescription) }
    let versions = registry.versions + [source, destination].filter { registry.family(of: $0) == nil }
    let built = registry.families.allSatisfy(\.problems.isEmpty)
      ? mappingModels.filter { model in
        !versions.contains { first in versions.contains { model.isFor(from: first, to: $0) } }
      } : unusable
    return built.map(\.unusedDescription) + registry.unusedMappingModels.map(\.unusedDescription)
  }

  var hasMappingModels: Bool { !mappingModels.isEmpty || registry?.mappingModels.isEmpty == false }

  func hasStage(from source: ModelVersion, to destination: ModelVersion) -> Bool {
    staged?.customStage(from: source, to: destination) != nil
  }

  @inline(never)
  func hasMappingModel(from source: ModelVersion, to destination: ModelVersion) -> Bool {
    mappingModels.contains { $0.isFor(from: source, to: destination) }
      || registry?.mappingModels(from: source, to: destination).isEmpty == false
  }
}

extension MappingModel {
  /// Whether the mapping model names neither versions nor hashes.
  fileprivate var fitsNothing: Bool {
    (sourceVersion == nil || destinationVersion == nil)
      && entityMappings.allSatisfy { $0.sourceEntityVersionHash == nil && $0.destinationEntityVersionHash == nil }
  }

  fileprivate var unusedDescription: String {
    MappingModelFile.unusedDescription(name, from: sourceVersion, to: destinationVersion)
  }
}

extension MigrationResources {
  /// Resources that consist of versions and the mapping models beside them.
  package init(registry: ModelRegistry?) { self.init(registry: registry, mappingModels: []) }
}
