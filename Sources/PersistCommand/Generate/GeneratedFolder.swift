import Foundation
import Persist

/// The folder of the generated files. Other files in it aren't touched.
struct GeneratedFolder {
  let url: URL
  /// The model's name without a version; files of other models are left alone.
  let model: String

  /// The changes of a run, as sorted file names.
  struct Changes {
    var written: [String] = []
    var unchanged: [String] = []
    var removed: [String] = []
  }

  /// Writes the files whose contents changed, and removes obsolete files of this model.
  ///
  /// - Throws: `PersistenceError.Code.fileAccess`, before anything is changed, if a file of one of the names wasn't
  ///   generated from this model.
  func write(_ files: [GeneratedFile]) throws -> Changes {
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    let names = Set(files.map(\.name))
    let old = try generatedFiles()
    for file in files where !old.contains(file.name) {
      guard FileManager.default.fileExists(atPath: path(file.name).path) else { continue }
      throw PersistenceError(
        .fileAccess, at: .file(path(file.name)),
        "'\(file.name)' wasn't generated from the model '\(model)', and would be overwritten.",
        fix: "Rename it, or generate into another folder.")
    }
    var changes = Changes()
    for file in files {
      let bytes = Data(file.text.utf8)
      // An unchanged file keeps its modification time, so that a build doesn't recompile it.
      if old.contains(file.name), try Data(contentsOf: path(file.name)) == bytes {
        changes.unchanged.append(file.name)
      } else {
        try bytes.write(to: path(file.name), options: .atomic)
        changes.written.append(file.name)
      }
    }
    for name in old.subtracting(names).sorted() {
      try FileManager.default.removeItem(at: path(name))
      changes.removed.append(name)
    }
    return changes
  }

  private func path(_ name: String) -> URL { url.appendingPathComponent(name) }

  /// The names of the files generated from this model by earlier runs.
  private func generatedFiles() throws -> Set<String> {
    let mark = Data((GeneratedFile.mark(model) + "\n").utf8)
    let names = try FileManager.default.contentsOfDirectory(atPath: url.path)
    return Set(
      try names.filter { name in
        guard name.hasSuffix(GeneratedFile.suffix) else { return false }
        let handle = try FileHandle(forReadingFrom: path(name))
        defer { try? handle.close() }
        return try handle.read(upToCount: mark.count) == mark
      })
  }
}
