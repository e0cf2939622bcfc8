import Foundation
import Persist

/// Finds and reads model files among the resources of a program.
enum ModelFile {
  static func read(_ url: URL) throws -> (model: ManagedObjectModel, registry: ModelRegistry?) {
    if url.pathExtension == "mom" || url.pathExtension == "xcdatamodel" {
      // One version of a model, in the folder of all its versions.
      let model = try ManagedObjectModel(contentsOf: url)
      return (model, mappings(to: model, url))
    }
    let registry = try ModelRegistry(contentsOf: existing(url))
    let mappings = try mappingModels(inFolder: url.deletingLastPathComponent()).map { try MappingModelFile(at: $0) }
    return (registry.current, mappings.reduce(registry) { $0.adding($1) })
  }

  /// The mapping models beside a model's folder that lead to one of its versions, with the versions that they begin at.
  private static func mappings(to model: ManagedObjectModel, _ url: URL) -> ModelRegistry? {
    let name = url.deletingPathExtension().lastPathComponent
    let folder = url.deletingLastPathComponent()
    guard ["xcdatamodeld", "momd"].contains(folder.pathExtension) else { return nil }
    let mappings = mappingModels(inFolder: folder.deletingLastPathComponent())
      .compactMap { try? MappingModelFile(at: $0) }.filter { $0.destinationVersion == name }
    if mappings.isEmpty { return nil }
    let sources = Set(mappings.compactMap(\.sourceVersion)).sorted().compactMap { source -> ModelVersion? in
      let file = folder.appendingPathComponent(source).appendingPathExtension(url.pathExtension)
      return (try? ManagedObjectModel(contentsOf: file)).map { ModelVersion(name: source, model: $0) }
    }
    let registry = ModelRegistry(versions: sources + [ModelVersion(name: name, model: model)])
    return mappings.reduce(registry) { $0.adding($1) }
  }

  /// The name of the bundle that a file is in, without extension; nil if it isn't in one.
  static func bundleName(of url: URL) -> String? {
    url.pathComponents.last { $0.hasSuffix(".resources") || $0.hasSuffix(".bundle") }
      .map { String($0.prefix { $0 != "." }).replacingOccurrences(of: "-", with: "_") }
  }

  /// Every version in a model file.
  static func versions(_ url: URL) throws -> [(ManagedObjectModel, ModelRegistry?)] {
    let registry = try ModelRegistry(contentsOf: existing(url))
    return registry.versions.map { ($0.model, registry) }
  }

  /// A source file that stands in for a compiled one with the same name.
  private static func existing(_ url: URL) -> URL {
    guard !FileManager.default.fileExists(atPath: url.path), url.pathExtension == "momd" else { return url }
    let source = url.deletingPathExtension().appendingPathExtension("xcdatamodeld")
    return FileManager.default.fileExists(atPath: source.path) ? source : url
  }

  static func named(_ name: String, in bundles: [Bundle]? = nil) -> URL? {
    all(in: bundles).first { $0.deletingPathExtension().lastPathComponent == name }
  }

  /// The models of bundles, or of everything around the program.
  static func all(in bundles: [Bundle]?) -> [URL] {
    let folders = bundles.map { $0.compactMap(\.resourceURL) } ?? usualFolders
    var seen: Set<String> = []
    return folders.flatMap(models).filter { seen.insert($0.deletingPathExtension().lastPathComponent).inserted }
  }

  /// Returns a version of any model by the name of its file.
  static func version(named name: String, in bundles: [Bundle]?) -> NSManagedObjectModel? {
    for file in all(in: bundles) {
      guard let registry = try? ModelRegistry(contentsOf: file),
        let version = registry.versions.first(where: { $0.name == name })
      else { continue }
      let model = NSManagedObjectModel(version.model, registry: registry, readFrom: bundleName(of: file))
      model.versionName = name
      return model
    }
    return nil
  }

  /// The mapping models of bundles.
  static func mappingModels(in bundles: [Bundle]?) -> [URL] {
    let folders = bundles.map { $0.compactMap(\.resourceURL) } ?? usualFolders
    return folders.flatMap(mappingModels)
  }

  private static func mappingModels(inFolder folder: URL) -> [URL] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted()
      .filter { $0.hasSuffix(".xcmappingmodel") || $0.hasSuffix(".cdm") }.map { folder.appendingPathComponent($0) }
  }

  private static let extensions = ["xcdatamodeld", "momd", "xcdatamodel", "mom"]

  static func models(in folder: URL) -> [URL] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().map { folder.appendingPathComponent($0) }.filter { extensions.contains($0.pathExtension) }
  }

  private static var usualFolders: [URL] {
    let bundles = ([Bundle.main] + Bundle.allBundles).compactMap(\.resourceURL)
    var seen: Set<String> = []
    let beside = [Bundle.main.bundleURL] + Bundle.main.moduleFolders
    return (bundles + beside).filter { seen.insert($0.standardizedFileURL.path).inserted }
  }
}
