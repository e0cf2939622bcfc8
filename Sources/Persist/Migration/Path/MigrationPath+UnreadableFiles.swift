import Foundation

extension MigrationPath {
  /// The errors of files that might change the path if they could be read.
  ///
  /// A mapping model may be for any step of the path. A version of the family may record renamings, which matter if the
  /// direct comparison leaves something unmatched on both sides, and may be an end of a mapping model.
  func unreadableFiles(_ resources: MigrationResources) -> [PersistenceError] {
    guard let registry = resources.registry, source.model !== destination.model else { return [] }
    let families = registry.families.filter { family in
      (family.contains(source) || family.contains(destination)) && !registry.unreadableFiles(of: family).isEmpty
    }
    // Comparing the models takes long.
    guard !families.isEmpty else { return registry.mappingModelProblems }
    let hasOpenEnds = (try? RenamingHistory(from: source.model, to: destination.model))?.hasOpenEnds != false
    let concerned = families.filter { family in
      hasOpenEnds || !resources.mappingModels.isEmpty
        || registry.mappingModels.contains { $0.familyName == nil || $0.familyName == family.name }
    }
    return registry.mappingModelProblems + concerned.flatMap(registry.unreadableFiles(of:))
  }
}

extension MigrationBlocker {
  /// Creates the blocker for a file that the migration may need and that can't be read.
  init(unreadable error: PersistenceError) {
    var name = "A model file"
    if let file = error.place.file {
      // The files within the folder of a version or of a mapping model all have the same name.
      let isInside = ["contents", "xcmapping.xml"].contains(file.lastPathComponent)
      let path = isInside ? file.deletingLastPathComponent() : file
      name = "'\(path.lastPathComponent)'" + (error.place.line.map { ", line \($0)," } ?? "")
    }
    self.init(
      error.code, what: "\(name) can't be read, and the migration may need it: \(error.message)",
      fix: error.fix ?? "Correct the file, or remove it.")
  }
}
