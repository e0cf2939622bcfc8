import Foundation

/// Looks for a model by its name where programs keep their resources.
struct ModelSearch {
  let name: String
  let folders: [URL]

  /// - Parameter folder: the only place to look; nil for the usual ones: the resources of the program and of the
  ///   bundles that it loaded, the folder of its executable with the resource bundles in it, and the working folder.
  init(name: String, in folder: URL?) {
    self.name = name
    folders = folder.map { [$0] } ?? Self.usualFolders
  }

  /// Every version of the model, with the mapping models that lie beside it.
  ///
  /// - Throws: ``PersistenceError/Code/modelNotFound``, with every place that was looked at; what reading a model
  ///   throws.
  func registry() throws -> ModelRegistry {
    for folder in folders {
      guard let model = model(in: folder) else { continue }
      let registry = try ModelRegistry(contentsOf: model)
      return try mappingModels(in: folder).reduce(registry) { try $0.adding(MappingModelFile(at: $1)) }
    }
    throw PersistenceError(
      .modelNotFound, "There is no model '\(name)' in any of the folders where the program looks for models.",
      fix: "Add '\(name).xcdatamodeld', '.momd', '.mom' or '.json' to the program's resources, or give its folder. "
        + "These were searched: \(folders.map { "'\($0.path)'" }.joined(separator: ", ")).")
  }

  /// Sources before compiled forms: they say more.
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
    let program = Bundle.main.bundleURL
    let beside = ((try? FileManager.default.contentsOfDirectory(atPath: program.path)) ?? [])
      .filter { $0.hasSuffix(".resources") || $0.hasSuffix(".bundle") }.sorted()
      .map { program.appendingPathComponent($0) }
    let working = URL(fileURLWithPath: FileManager.default.currentDirectoryPath)
    var seen = Set<String>()
    return (bundles.compactMap(\.resourceURL) + [program] + beside + [working])
      .filter { seen.insert($0.standardizedFileURL.path).inserted }
  }
}
