/// What a migration may use beside the models: mapping models, policies, stages.
struct MigrationMeans: Sendable {
  var registry: ModelRegistry?
  /// Mapping models built in code; they come before those of files.
  var mappingModels: [MappingModel] = []
  var policies = MigrationPolicies()
  var staged: StagedMigration?
  /// Whether to go into a new file even where it could be done in place.
  var copies = false
  /// Whether hops may follow from the models alone.
  var infersMapping = true
  /// Whether steps that may wait are left for later, where all is done in place.
  var defersWork = false

  /// Where versions are looked for: the registry's, else those of the stages.
  var pathRegistry: ModelRegistry? {
    guard registry == nil, let versions = staged?.versions, !versions.isEmpty else { return registry }
    return ModelRegistry(versions: versions)
  }

  /// The mapping model for the hop between two versions; nil where there is none.
  ///
  /// Several are one hop in parts: their entity mappings run one after the other, and find each other's objects.
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

  var hasMappingModels: Bool { !mappingModels.isEmpty || registry?.mappingModels.isEmpty == false }

  func hasStage(from source: ModelVersion, to destination: ModelVersion) -> Bool {
    staged?.customStage(from: source, to: destination) != nil
  }

  func hasMappingModel(from source: ModelVersion, to destination: ModelVersion) -> Bool {
    mappingModels.contains { $0.isFor(from: source, to: destination) }
      || registry?.mappingModels(from: source, to: destination).isEmpty == false
  }
}
