package import Foundation

/// Searches for a model by name where programs keep their resources.
struct ModelSearch {
  let name: String
  let folders: [URL]

  /// - Parameter folder: The only folder to search; nil for the usual ones: the resources of the program and its loaded
  ///   bundles, the executable's folder with its resource bundles, and the working directory.
  init(name: String, in folder: URL?) {
    self.name = name
    folders = folder.map { [$0] } ?? Self.usualFolders
  }

  /// Returns every version of the model, with the mapping models beside it.
  ///
  /// - Throws: ``PersistenceError/Code/modelNotFound``, with every searched folder; errors of reading a model.
  func registry() throws -> ModelRegistry {
    for folder in folders {
      guard let model = model(in: folder) else { continue }
      let registry = try ModelRegistry(contentsOf: model)
      return try mappingModels(in: folder).reduce(registry) { try $0.adding(MappingModelFile(at: $1)) }
    }
    throw PersistenceError(
      .modelNotFound, "There is no model '\(name)' in any of the folders that the program searches for models.",
      fix: "Add '\(name).xcdatamodeld', '.momd', '.mom' or '.json' to the program's resources, or specify its folder. "
        + "These were searched: \(folders.map { "'\($0.path)'" }.joined(separator: ", ")).")
  }

  /// Sources before compiled forms, because they contain more information.
  private static let extensions = ["xcdatamodeld", "xcdatamodel", "momd", "mom", "json"]

  private func model(in folder: URL) -> URL? {
    Self.extensions.lazy.map { folder.appendingPathComponent("\(name).\($0)") }
      .first { FileManager.default.fileExists(atPath: $0.path) }
  }

  private func mappingModels(in folder: URL) -> [URL] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0.hasSuffix(".xcmappingmodel") || $0.hasSuffix(".cdm") }.sorted()
      .map { folder.appendingPathComponent($0) }
  }

  private static var usualFolders: [URL] {
    let bundles = [Bundle.main] + Bundle.allBundles
    let working = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
    var seen = Set<String>()
    return (bundles.compactMap(\.resourceURL) + [Bundle.main.bundleURL] + Bundle.main.moduleFolders + [working])
      .filter { seen.insert($0.standardizedFileURL.path).inserted }
  }
}

extension Bundle {
  /// The folders with the resources of modules, which are beside the program, in the order of their names.
  package var moduleFolders: [URL] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: bundleURL.path)) ?? []
    return names.filter { $0.hasSuffix(".resources") || $0.hasSuffix(".bundle") }.sorted()
      .map { bundleURL.appendingPathComponent($0) }
  }
}
