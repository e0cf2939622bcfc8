import Foundation
import PackagePlugin

/// Compiles a target's sources after the pass over their Objective-C parts, and the classes that Xcode generates from
/// its models.
///
/// The manifest restricts the target's own compilation to one source, `CoreDataPlatform.swift`. Its comments tell which
/// paths the manifest excludes otherwise: `// except: Legacy`, or `// only: Sources`.
@main
struct PersistCoreData: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target.sourceModule else { return [] }
    guard let tool = try? context.tool(named: "PersistCoreDataTool") else { throw NoTool() }
    let folder = target.directoryURL
    // Sources outside of the manifest's list are among the target's files, as unknown ones.
    let compiled = Set(target.sourceFiles.filter { $0.type == .source }.map(\.url.standardizedFileURL.path))
    let outputs = context.pluginWorkDirectoryURL
    let models = Self.models(in: folder).map { model in
      (input: model, name: "\(model.deletingPathExtension().lastPathComponent)+CoreDataClasses.swift")
    }
    let paths = Paths(in: folder)
    let sources = Self.sources(in: folder).filter { source in
      !compiled.contains(source.standardizedFileURL.path) && paths.contain(source.path.dropFirst(folder.path.count))
    }.map { source in
      (input: source, name: source.path.dropFirst(folder.path.count).split(separator: "/").joined(separator: "+"))
    }
    // One command, because a class can be extended in other files than its own.
    let pairs = (models + sources).map { (input: $0.input, output: outputs.appendingPathComponent($0.name)) }
    guard !pairs.isEmpty else { return [] }
    return [
      .buildCommand(
        displayName: "Preparing Core Data sources of \(target.name)", executable: tool.url,
        arguments: pairs.flatMap { [$0.input.path, $0.output.path] },
        inputFiles: sources.map(\.input) + models.flatMap { Self.files(of: $0.input) },
        outputFiles: pairs.map(\.output))
    ]
  }

  private static func files(of model: URL) -> [URL] { contents(of: model).filter { !$0.hasDirectoryPath } }

  private static func contents(of folder: URL) -> [URL] {
    let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    return (walk?.allObjects ?? []).compactMap { $0 as? URL }.sorted { $0.path < $1.path }
  }

  private static func sources(in folder: URL) -> [URL] { contents(of: folder).filter { $0.pathExtension == "swift" } }

  /// The models of a folder: those with several versions, and single ones.
  private static func models(in folder: URL) -> [URL] {
    contents(of: folder).filter { url in
      url.pathExtension == "xcdatamodeld"
        || url.pathExtension == "xcdatamodel" && url.deletingLastPathComponent().pathExtension != "xcdatamodeld"
    }
  }
}

/// The paths of a target whose sources are compiled.
private struct Paths {
  private var exclusions: [Substring] = []
  private var only: [Substring] = []

  init(in folder: URL) {
    let file = folder.appendingPathComponent("CoreDataPlatform.swift")
    guard let text = try? String(contentsOf: file, encoding: .utf8) else { return }
    for line in text.split(separator: "\n") {
      if line.hasPrefix("// except: ") { exclusions.append(line.dropFirst(11)) }
      if line.hasPrefix("// only: ") { only.append(line.dropFirst(9)) }
    }
  }

  func contain(_ path: Substring) -> Bool {
    let path = path.drop { $0 == "/" }
    func isIn(_ folder: Substring) -> Bool { folder == "." || path == folder || path.hasPrefix("\(folder)/") }
    return !exclusions.contains(where: isIn) && (only.isEmpty || only.contains(where: isIn))
  }
}

/// `Package.swift` leaves the tool out of builds that begin in Persist's own folder.
private struct NoTool: Error, CustomStringConvertible {
  var description: String {
    "The plugin's tool isn't built: the environment's PWD says that the build begins in Persist's own folder. Begin it "
      + "in the folder of your package, as 'cd' does, or set PWD to that folder."
  }
}
