package import Foundation

/// Sets a package up whose targets use Core Data, so that they compile where Apple's framework isn't.
///
/// The manifest gets a paragraph for these platforms at its end; on Apple's, nothing changes.
package struct PackageSetup {
  /// A target with sources that use Core Data.
  package struct Target: Hashable {
    package let name: String
    /// The folder, relative to the package.
    package let path: String
    package let exclusions: [String]
    package let models: [String]
    package let otherResources: [String]
  }

  package let targets: [Target]
  private let folder: URL

  package static let placeholder = "CoreDataPlatform.swift"

  /// - Parameter folder: The folder with the manifest.
  package init(_ folder: URL) {
    self.folder = folder
    targets = ["Sources", "Tests"].flatMap { base -> [Target] in
      Self.contents(of: folder.appendingPathComponent(base)).filter(\.hasDirectoryPath).compactMap { url in
        Self.target(url, path: "\(base)/\(url.lastPathComponent)")
      }
    }
  }

  private static func contents(of folder: URL) -> [URL] {
    let urls = try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: [.isDirectoryKey])
    return (urls ?? []).filter { !$0.lastPathComponent.hasPrefix(".") }
      .sorted { $0.lastPathComponent < $1.lastPathComponent }
  }

  private static func target(_ folder: URL, path: String) -> Target? {
    let files = SourceFolder(folder).files
    guard files.contains(where: usesCoreData) else { return nil }
    let entries = contents(of: folder).filter { entry in
      entry.lastPathComponent != placeholder && files.contains { $0.path.hasPrefix(entry.path) }
    }
    let resources = SourceFolder(folder).resources
    return Target(
      name: folder.lastPathComponent, path: path, exclusions: entries.map(\.lastPathComponent),
      models: resources.filter(\.isModel).map(\.path),
      otherResources: resources.filter { !$0.isModel }.map(\.path))
  }

  private static func usesCoreData(_ file: URL) -> Bool {
    guard let source = try? String(contentsOf: file, encoding: .utf8) else { return false }
    let tokens = SwiftTokenizer.tokens(of: source)
    return zip(tokens, tokens.dropFirst()).contains { $0.isWord("import") && $1.isWord("CoreData") }
  }

  private static let mark = "// Core Data where Apple's framework isn't, set up by 'persist port --init'."

  /// The paragraph of the manifest.
  package func manifestPart(dependency: String) -> String {
    var text = "\(Self.mark)\n#if !canImport(Darwin)\n  package.dependencies.append(\(dependency))\n"
    text += "  for target in package.targets {\n    switch target.name {\n"
    for target in targets {
      let resources =
        target.models.map { ".copy(\(quoted($0)))" } + target.otherResources.map { ".process(\(quoted($0)))" }
      text += "    case \(quoted(target.name)):\n"
      text += "      target.exclude += [\(target.exclusions.map(quoted).joined(separator: ", "))]\n"
      if !resources.isEmpty { text += "      target.resources = [\(resources.joined(separator: ", "))]\n" }
    }
    text += "    default: continue\n    }\n"
    text += "    target.dependencies.append(.product(name: \"CoreData\", package: \"Persist\"))\n"
    text += "    target.plugins = (target.plugins ?? []) + [.plugin(name: \"PersistCoreData\", package: \"Persist\")]\n"
    return text + "  }\n#endif\n"
  }

  private func quoted(_ text: String) -> String { "\"\(text)\"" }

  /// Writes the manifest's paragraph and the targets' placeholders, replacing those of an earlier call.
  package func apply(dependency: String) throws {
    let manifest = folder.appendingPathComponent("Package.swift")
    var text = try String(contentsOf: manifest, encoding: .utf8)
    if let start = text.range(of: Self.mark) { text = String(text[..<start.lowerBound]) }
    while text.hasSuffix("\n") { text.removeLast() }
    try "\(text)\n\n\(manifestPart(dependency: dependency))".write(to: manifest, atomically: true, encoding: .utf8)
    for target in targets {
      let file = folder.appendingPathComponent(target.path).appendingPathComponent(Self.placeholder)
      try "// Off Apple's platforms, the plugin PersistCoreData compiles the other sources of this target.\n"
        .write(to: file, atomically: true, encoding: .utf8)
    }
  }
}

/// The files of a folder of sources.
package struct SourceFolder {
  package struct Resource: Hashable {
    package let path: String
    package let isModel: Bool
  }

  package let files: [URL]
  /// The models that Xcode edits, of which classes may be generated.
  package let models: [URL]
  let resources: [Resource]

  package init(_ folder: URL) {
    var files: [URL] = []
    var models: [URL] = []
    var resources: [Resource] = []
    let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isDirectoryKey])
    let root = folder.standardizedFileURL.path
    while let url = walk?.nextObject() as? URL {
      let path = String(url.standardizedFileURL.path.dropFirst(root.count + 1))
      if url.lastPathComponent.hasPrefix(".") {
        walk?.skipDescendants()
      } else if ["xcdatamodeld", "xcdatamodel", "xcmappingmodel", "momd"].contains(url.pathExtension) {
        walk?.skipDescendants()
        resources.append(Resource(path: path, isModel: true))
        if url.isXcodeModel { models.append(url) }
      } else if url.pathExtension == "swift" {
        files.append(url)
      } else if !url.hasDirectoryPath {
        resources.append(Resource(path: path, isModel: false))
      }
    }
    self.files = files.sorted { $0.path < $1.path }
    self.models = models.sorted { $0.path < $1.path }
    self.resources = resources.sorted { $0.path < $1.path }
  }
}
