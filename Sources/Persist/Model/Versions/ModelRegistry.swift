/// Every known version of every model, and every mapping model: what a store's own version is found among, and what
/// it is migrated with.
///
/// ```swift
/// let registry = try ModelRegistry(contentsOf: modelsFolder)
/// let old = try registry.version(named: "Shop 2")
/// ```
///
/// A folder may hold several families, each an `.xcdatamodeld` or a `.momd`; which one a store belongs to is found by
/// matching. Versions can be added in code too.
public final class ModelRegistry: Sendable {
  /// In name order; at least one.
  public let families: [ModelFamily]
  public let mappingModels: [MappingModelFile]
  private let otherProblems: [PersistenceError]

  /// - Parameter families: at least one.
  public init(families: [ModelFamily], mappingModels: [MappingModelFile] = [], problems: [PersistenceError] = []) {
    precondition(!families.isEmpty, "A registry holds at least one family of models.")
    self.families = families.sorted { NaturalOrder.precedes($0.name, $1.name) }
    self.mappingModels = mappingModels
    otherProblems = problems
  }

  /// What can't be read: versions of the families, mapping models, and what else was found in a folder that was
  /// searched. It is an error where it is needed, and hides nothing else.
  ///
  /// - Complexity: the first call reads every version.
  public var problems: [PersistenceError] { otherProblems + families.flatMap(\.problems) }

  /// A registry of one family that is written in code.
  ///
  /// - Parameters:
  ///   - versions: from the oldest to the newest; at least one.
  ///   - current: the name of the current version; nil for the last.
  public convenience init(
    versions: [ModelVersion], current: String? = nil, family: String = "Model",
    mappingModels: [MappingModelFile] = []
  ) {
    precondition(!versions.isEmpty, "A registry holds at least one version.")
    self.init(
      families: [ModelFamily(family, ordered: versions, current: current, url: nil)], mappingModels: mappingModels)
  }

  /// All versions of all families that can be read.
  ///
  /// - Complexity: the first call reads every version.
  public var versions: [ModelVersion] { families.flatMap(\.versions) }

  /// The current version of the only family, or of the first in name order.
  public var currentVersion: ModelVersion { families[0].current }

  /// The model of ``currentVersion``.
  public var current: ManagedObjectModel { currentVersion.model }

  /// - Throws: ``PersistenceError/Code/modelNotFound``, naming the families that there are.
  public func family(named name: String) throws -> ModelFamily {
    if let family = families.first(where: { $0.name == name }) { return family }
    throw PersistenceError(
      .modelNotFound, "There is no model '\(name)'.",
      fix: "There are \(families.map { "'\($0.name)'" }.joined(separator: ", ")).")
  }

  /// The version of a name or version identifier.
  ///
  /// - Throws: ``PersistenceError/Code/modelNotFound`` where there is none, naming those that there are, or where
  ///   several families have one; what is wrong with its file where it can't be read.
  public func version(named name: String) throws -> ModelVersion {
    let exact = families.flatMap { $0.contents.files.filter { $0.name == name } }
    if let file = exact.first, exact.count == 1 { return try file.version() }
    let found = exact.isEmpty ? families.compactMap { $0.version(named: name) } : []
    if let version = found.first, found.count == 1 { return version }
    if found.isEmpty && exact.isEmpty {
      throw PersistenceError(
        .modelNotFound, "There is no version '\(name)'.",
        fix: "There are \(families.flatMap(\.versionNames).map { "'\($0)'" }.joined(separator: ", ")).",
        errors: problems)
    }
    throw PersistenceError(
      .modelNotFound, "Several models have a version '\(name)'.",
      fix: "Name it by its file, or give the folder of one model only.")
  }

  /// The family that a version of this registry belongs to.
  public func family(of version: ModelVersion) -> ModelFamily? { families.first { $0.contains(version) } }

  /// The version that has the very model.
  func version(with model: ManagedObjectModel) -> ModelVersion? {
    families.lazy.compactMap { $0.contents.version(with: model) }.first
  }

  /// The mapping models for the step between two versions.
  public func mappingModels(from source: ModelVersion, to destination: ModelVersion) -> [MappingModelFile] {
    let family = family(of: source)?.name
    let found = mappingModels.filter { $0.isFor(from: source, to: destination) }
    // Versions of two families may have the same names; the file then says whose it means.
    let own = found.filter { $0.familyName == nil || $0.familyName == family }
    return own.isEmpty ? found : own
  }

  /// The same registry with one version more, as the newest and current one of a family; a version of the same name is
  /// replaced in its place.
  ///
  /// - Parameter family: the family's name; nil for the only or first one. A new name makes a new family.
  public func adding(_ version: ModelVersion, to family: String? = nil) -> ModelRegistry {
    let name = family ?? families[0].name
    var families = families
    if let index = families.firstIndex(where: { $0.name == name }) {
      let old = families[index]
      var versions = old.versions
      var current = version.name
      if let place = versions.firstIndex(where: { $0.name == version.name }) {
        versions[place] = version
        current = old.current.name
      } else {
        versions.append(version)
      }
      families[index] = ModelFamily(name, ordered: versions, current: current, url: old.url)
    } else {
      families.append(ModelFamily(name, versions: [version]))
    }
    return ModelRegistry(families: families, mappingModels: mappingModels, problems: otherProblems)
  }

  /// The same registry with one mapping model more.
  public func adding(_ mappingModel: MappingModelFile) -> ModelRegistry {
    ModelRegistry(families: families, mappingModels: mappingModels + [mappingModel], problems: otherProblems)
  }

  /// The family with the most entity names in common with a model that is no version of any; nil where none has any.
  func family(closestTo model: ManagedObjectModel) -> ModelFamily? {
    let names = Set(model.entitiesByName.keys)
    func likeness(_ family: ModelFamily) -> Double {
      family.versions.map { version in
        let other = Set(version.model.entitiesByName.keys)
        return Double(names.intersection(other).count) / Double(max(names.union(other).count, 1))
      }.max() ?? 0
    }
    let best = families.map { (family: $0, likeness: likeness($0)) }.max { $0.likeness < $1.likeness }
    return best.flatMap { $0.likeness > 0 ? $0.family : nil }
  }
}
