import Foundation

/// All known versions of all models, and all mapping models: used to identify a store's version and to migrate it.
///
/// ```swift
/// let registry = try ModelRegistry(contentsOf: modelsFolder)
/// let old = try registry.version(named: "Shop 2")
/// ```
///
/// A folder may contain several families, each an `.xcdatamodeld` or a `.momd`; a store's family is found by matching.
/// Versions can also be added in code.
public final class ModelRegistry: Sendable {
  /// The families in name order; at least one.
  public let families: [ModelFamily]
  /// The mapping models that were found, in no particular order. Their content is read when a migration needs it.
  public let mappingModels: [MappingModelFile]
  /// The errors of mapping models that can't be read; each of them may be for any step.
  package let mappingModelProblems: [PersistenceError]
  /// The errors of models without a usable version, and of other files.
  package let otherProblems: [PersistenceError]

  /// - Parameters:
  ///   - families: at least one.
  ///   - mappingModels: the mapping models between the versions.
  ///   - problems: the errors of files that could not be read.
  public convenience init(
    families: [ModelFamily], mappingModels: [MappingModelFile] = [], problems: [PersistenceError] = []
  ) {
    self.init(families: families, mappingModels: mappingModels, mappingModelProblems: [], otherProblems: problems)
  }

  init(
    families: [ModelFamily], mappingModels: [MappingModelFile], mappingModelProblems: [PersistenceError],
    otherProblems: [PersistenceError]
  ) {
    precondition(!families.isEmpty, "A registry contains at least one family of models.")
    self.families = families.ordered { NaturalOrder.precedes($0.name, $1.name) }
    self.mappingModels = mappingModels
    self.mappingModelProblems = mappingModelProblems
    self.otherProblems = otherProblems
  }

  /// Everything that can't be read or used: versions of the families, mapping models, mapping models for versions that
  /// don't exist, and other files in a searched folder.
  ///
  /// A problem becomes an error only when the item may be needed. A migration may need any mapping model that can't be
  /// read, and a version of the store's family that can't be read if it might record a renaming or be an end of a
  /// mapping model; it is then rejected. Other families aren't affected.
  ///
  /// - Complexity: the first call reads every version.
  public var problems: [PersistenceError] {
    unreadableFiles
      + unusedMappingModels.map { file in
        PersistenceError(
          .missingMappingModel, at: PersistenceError.Place(file: file.url), file.unusedDescription,
          fix: "Correct the names of its versions, or remove the file.")
      }
  }

  private var unreadableFiles: [PersistenceError] {
    mappingModelProblems + otherProblems + families.flatMap(\.problems)
  }

  /// The mapping models that are for no step between two versions; empty if a version can't be read, which may be the
  /// one that a mapping model is for.
  package var unusedMappingModels: [MappingModelFile] {
    guard !mappingModels.isEmpty, families.allSatisfy(\.problems.isEmpty) else { return [] }
    let versions = versions
    return mappingModels.filter { file in
      !versions.contains { first in versions.contains { file.isFor(from: first, to: $0) } }
    }
  }

  /// The errors of unreadable versions of a family, and of other files within its folders.
  package func unreadableFiles(of family: ModelFamily) -> [PersistenceError] {
    let folders = ["\(family.name).xcdatamodeld", "\(family.name).momd"]
    let others = otherProblems.filter { $0.place.file?.pathComponents.contains(where: folders.contains) == true }
    return others + family.problems
  }

  /// Checks that every version and every mapping model can be read.
  ///
  /// - Throws: The ``problems`` of reading.
  package func requireReadable() throws { try Self.requireNone(unreadableFiles) }

  private static func requireNone(_ problems: [PersistenceError]) throws {
    guard let first = problems.first else { return }
    throw PersistenceError.combining(problems, as: first.code, "\(problems.count) model files can't be read.")
  }

  /// Creates a registry with one family that is defined in code.
  ///
  /// - Parameters:
  ///   - versions: the versions from the oldest to the newest; at least one.
  ///   - current: the name of the current version; nil for the last.
  ///   - family: the name of the family.
  ///   - mappingModels: the mapping models between the versions.
  public convenience init(
    versions: [ModelVersion], current: String? = nil, family: String = "Model",
    mappingModels: [MappingModelFile] = []
  ) {
    precondition(!versions.isEmpty, "A registry contains at least one version.")
    self.init(
      families: [ModelFamily(family, ordered: versions, current: current, url: nil)], mappingModels: mappingModels)
  }

  /// All readable versions of all families.
  ///
  /// - Complexity: the first call reads every version.
  public var versions: [ModelVersion] { families.flatMap(\.versions) }

  /// The current version of the only family, or of the first in name order.
  public var currentVersion: ModelVersion { families[0].current }

  /// The only family, for work that nothing else relates to one of several.
  ///
  /// - Throws: ``PersistenceError/Code/modelNotFound`` if there are several, naming them; the errors of models that
  ///   can't be read, because one of them may be meant.
  package var onlyFamily: ModelFamily {
    get throws {
      try Self.requireNone(otherProblems)
      guard families.count > 1 else { return families[0] }
      throw PersistenceError(
        .modelNotFound, "There are \(families.count) models: \(families.map(\.name).joined(separator: ", ")).",
        fix: "Name the one that is meant, or its version.")
    }
  }

  /// The model of ``currentVersion``.
  public var current: ManagedObjectModel { currentVersion.model }

  /// - Throws: ``PersistenceError/Code/modelNotFound``, naming the existing families.
  public func family(named name: String) throws -> ModelFamily {
    if let family = families.first(where: { $0.name == name }) { return family }
    throw PersistenceError(
      .modelNotFound, "There is no model '\(name)'.",
      fix: "There are \(families.map { "'\($0.name)'" }.joined(separator: ", ")).")
  }

  /// Returns the version with a name or version identifier.
  ///
  /// - Throws: ``PersistenceError/Code/modelNotFound`` if there is none, naming the existing ones, or if several
  ///   families have one; the error of its file if it can't be read.
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
      fix: "Specify its file, or the folder of a single model.")
  }

  /// The family that a version of this registry belongs to.
  public func family(of version: ModelVersion) -> ModelFamily? { families.first { $0.contains(version) } }

  /// Returns the version with this model instance.
  package func version(with model: ManagedObjectModel) -> ModelVersion? {
    families.lazy.compactMap { $0.contents.version(with: model) }.first
  }

  /// Returns the mapping models for the hop between two versions.
  public func mappingModels(from source: ModelVersion, to destination: ModelVersion) -> [MappingModelFile] {
    let family = family(of: source)?.name
    let found = mappingModels.filter { $0.isFor(from: source, to: destination) }
    // Versions of two families may have the same names; the file may then name its family.
    let own = found.filter { $0.familyName == nil || $0.familyName == family }
    return own.isEmpty ? found : own
  }

  /// Returns the registry with a version added as the newest and current one of a family; a version with the same name
  /// is replaced in place.
  ///
  /// The family's other versions aren't read. Those that can't be read remain in ``problems``.
  ///
  /// - Parameters:
  ///   - version: the version to add.
  ///   - family: the family's name; nil for the only or first one. A new name creates a family.
  public func adding(_ version: ModelVersion, to family: String? = nil) -> ModelRegistry {
    let name = family ?? families[0].name
    var families = families
    if let index = families.firstIndex(where: { $0.name == name }) {
      families[index] = families[index].adding(version)
    } else {
      families.append(ModelFamily(name, versions: [version]))
    }
    return ModelRegistry(
      families: families, mappingModels: mappingModels, mappingModelProblems: mappingModelProblems,
      otherProblems: otherProblems)
  }

  /// Returns the registry with a mapping model added.
  public func adding(_ mappingModel: MappingModelFile) -> ModelRegistry {
    ModelRegistry(
      families: families, mappingModels: mappingModels + [mappingModel], mappingModelProblems: mappingModelProblems,
      otherProblems: otherProblems)
  }

  /// Returns the family that shares the most entity names with a model that isn't one of its versions; nil if none
  /// shares any.
  func family(closestTo model: ManagedObjectModel) -> ModelFamily? {
    let names = Set(model.entitiesByName.keys)
    func similarity(_ family: ModelFamily) -> Double {
      family.versions.map { version in
        let other = Set(version.model.entitiesByName.keys)
        return Double(names.intersection(other).count) / Double(max(names.union(other).count, 1))
      }.max() ?? 0
    }
    let best = families.map { (family: $0, similarity: similarity($0)) }.max { $0.similarity < $1.similarity }
    return best.flatMap { $0.similarity > 0 ? $0.family : nil }
  }
}
