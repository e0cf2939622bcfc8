import Foundation
import PackagePlugin

/// Generates classes for every model in a target's folder with each build.
///
/// A model is an `.xcdatamodeld`, or a Persist model whose file name ends with `.model.json`. The classes are compiled
/// with the target and never stand among its sources. Entities whose Codegen is Manual/None in Xcode are left to the
/// target's own code.
@main
struct PersistGenerate: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target.sourceModule else { return [] }
    guard let tool = try? context.tool(named: "PersistCommand") else { throw NoTool() }
    return Model.all(in: target.directoryURL).map { model in
      let folder = context.pluginWorkDirectoryURL.appendingPathComponent(model.name, isDirectory: true)
      return .buildCommand(
        displayName: "Generating classes of \(model.name)", executable: tool.url,
        arguments: [
          "generate", model.url.path, "--output", folder.path, "--single-file", "--skip-manual", "--module",
          target.moduleName,
        ],
        inputFiles: model.files, outputFiles: [folder.appendingPathComponent("\(model.name)+Generated.swift")])
    }
  }
}

/// `Package.swift` leaves the tool out of builds that begin in Persist's own folder.
private struct NoTool: Error, CustomStringConvertible {
  var description: String {
    "The plugin's tool isn't built: the environment's PWD says that the build begins in Persist's own folder. Begin it "
      + "in the folder of your package, as 'cd' does, or set PWD to that folder."
  }
}

/// A model in a folder of sources, and the files that it consists of.
private struct Model {
  let url: URL
  let name: String
  let files: [URL]

  /// The models of a folder, in the order of their paths.
  static func all(in folder: URL) -> [Model] {
    let files = contents(of: folder)
    let folders = Dictionary(grouping: files) { file in modelFolder(of: file, below: folder) }
    let models = folders.compactMap { url, files in
      url.map { Model(url: $0, name: $0.deletingPathExtension().lastPathComponent, files: files) }
    }
    let texts = files.filter { $0.lastPathComponent.hasSuffix(".model.json") }.map { file in
      Model(url: file, name: file.deletingPathExtension().lastPathComponent, files: [file])
    }
    return (models + texts).sorted { $0.url.path < $1.url.path }
  }

  private static func contents(of folder: URL) -> [URL] {
    let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isRegularFileKey])
    let urls = (walk?.allObjects ?? []).compactMap { $0 as? URL }
    return urls.filter { (try? $0.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true }
      .sorted { $0.path < $1.path }
  }

  /// The `.xcdatamodeld` that a file stands in.
  private static func modelFolder(of file: URL, below folder: URL) -> URL? {
    var url = file
    while url.path.count > folder.path.count {
      if url.pathExtension == "xcdatamodeld" { return url }
      url.deleteLastPathComponent()
    }
    return nil
  }
}
