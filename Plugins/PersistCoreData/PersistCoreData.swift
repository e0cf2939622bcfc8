import Foundation
import PackagePlugin

/// Compiles a target's sources after the pass over their Objective-C parts.
///
/// The target's own sources are excluded from its compilation with `sources: []` in the package's manifest.
@main
struct PersistCoreData: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target.sourceModule else { return [] }
    guard let tool = try? context.tool(named: "PersistCoreDataTool") else { throw NoTool() }
    let folder = target.directoryURL
    let compiled = Set(target.sourceFiles(withSuffix: "swift").map(\.url.standardizedFileURL.path))
    return Self.sources(in: folder).filter { !compiled.contains($0.standardizedFileURL.path) }.map { source in
      let name = source.path.dropFirst(folder.path.count).split(separator: "/").joined(separator: "+")
      let output = context.pluginWorkDirectoryURL.appendingPathComponent(name)
      return .buildCommand(
        displayName: "Preparing \(name)", executable: tool.url, arguments: [source.path, output.path],
        inputFiles: [source], outputFiles: [output])
    }
  }

  private static func sources(in folder: URL) -> [URL] {
    let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (walk?.allObjects ?? []).compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
      .sorted { $0.path < $1.path }
  }
}

/// `Package.swift` leaves the tool out of builds that begin in Persist's own folder.
private struct NoTool: Error, CustomStringConvertible {
  var description: String {
    "The plugin's tool isn't built: the environment's PWD says that the build begins in Persist's own folder. Begin it "
      + "in the folder of your package, as 'cd' does, or set PWD to that folder."
  }
}
