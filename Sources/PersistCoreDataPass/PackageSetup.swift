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
    /// The manifest's expressions for the resources; nil to leave them as they are.
    package let resources: [String]?
    /// Paths in the folder that the manifest excludes.
    package let exclusions: [String]
    /// The only paths in the folder whose sources the manifest compiles; nil for all.
    package let sources: [String]?
  }

  package let targets: [Target]
  private let folder: URL

  package static let placeholder = "CoreDataPlatform.swift"

  /// - Parameters:
  ///   - folder: The folder with the manifest.
  ///   - manifest: The output of `swift package dump-package`, without a paragraph of messages before it; nil to take
  ///     the folders in `Sources` and `Tests` for targets.
  package init(_ folder: URL, manifest: Data? = nil) {
    self.folder = folder
    let dumped = manifest.flatMap { DumpedManifest($0, in: folder) }?.targets ?? []
    let declared = dumped.isEmpty ? Self.usualTargets(folder) : dumped
    // A target that only depends on one that uses Core Data needs the pass, too, if it has something to change.
    var used = Set(declared.filter { $0.sourceTexts.contains(where: Self.importsCoreData) }.map(\.name))
    var waiting = declared.filter { !used.contains($0.name) }
    while let next = waiting.firstIndex(where: { target in
      !used.isDisjoint(with: target.dependencies)
        && target.sourceTexts.contains { CoreDataPass($0, file: "").editCount > 0 }
    }) {
      used.insert(waiting.remove(at: next).name)
    }
    targets = declared.filter { used.contains($0.name) }.map(Self.target)
  }

  private static func usualTargets(_ folder: URL) -> [DeclaredTarget] {
    ["Sources", "Tests"].flatMap { base -> [DeclaredTarget] in
      let url = folder.appendingPathComponent(base)
      let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
      return names.filter { !$0.hasPrefix(".") }.sorted().compactMap { name in
        let folder = url.appendingPathComponent(name, isDirectory: true)
        guard folder.isFolder else { return nil }
        return DeclaredTarget(name: name, path: "\(base)/\(name)", folder: folder)
      }
    }
  }

  private static func importsCoreData(_ source: String) -> Bool {
    let tokens = SwiftTokenizer.tokens(of: source)
    return zip(tokens, tokens.dropFirst()).contains { $0.isWord("import") && $1.isWord("CoreData") }
  }

  private static func target(_ declared: DeclaredTarget) -> Target {
    Target(
      name: declared.name, path: declared.path, resources: declared.copiedResources, exclusions: declared.exclusions,
      sources: declared.sources)
  }

  private static let mark = "// Core Data where Apple's framework isn't, set up by 'persist port --init'."

  /// The paragraph of the manifest.
  package func manifestPart(dependency: String) -> String {
    var text = "\(Self.mark)\n#if !canImport(Darwin)\n  package.dependencies.append(\(dependency))\n"
    text += "  for target in package.targets {\n    switch target.name {\n"
    for target in targets {
      text += "    case \"\(target.name)\":"
      guard let resources = target.resources else {
        text += " break\n"
        continue
      }
      text += "\n      target.resources = [\(resources.joined(separator: ", "))]\n"
    }
    text += "    default: continue\n    }\n"
    text += "    target.sources = [\"\(Self.placeholder)\"]\n"
    text += "    target.dependencies.append(.product(name: \"CoreData\", package: \"Persist\"))\n"
    text += "    target.plugins = (target.plugins ?? []) + [.plugin(name: \"PersistCoreData\", package: \"Persist\")]\n"
    return text + "  }\n#endif\n"
  }

  /// Returns the expression for a dependency on Persist.
  ///
  /// - Parameter text: A path, a URL, or an expression of the manifest.
  package static func dependency(_ text: String) -> String {
    if text.hasPrefix(".package") { return text }
    if text.contains("://") || text.hasPrefix("git@") { return ".package(url: \"\(text)\", branch: \"main\")" }
    return ".package(name: \"Persist\", path: \"\(text)\")"
  }

  /// Returns a manifest without the paragraph of an earlier call, and with the version of the tools that it had.
  package static func withoutPart(_ manifest: String) -> String {
    guard let range = manifest.range(of: mark) else { return withOneLineEnd(manifest) }
    let text = withOneLineEnd(String(manifest[..<range.lowerBound]))
    let part = manifest[range.upperBound...].dropFirst()
    let line = part.prefix { $0 != "\n" }
    guard line.hasPrefix(raisedMark), let former = line.split(separator: "'").dropFirst().first else { return text }
    return ToolsVersion.replacingLine(of: text, with: String(former))
  }

  private static func withOneLineEnd(_ text: String) -> String {
    var text = text
    while text.hasSuffix("\n") { text.removeLast() }
    return text + "\n"
  }

  private static let raisedMark = "// Plugins need these tools; the manifest had "

  /// Returns a manifest with tools that know plugins, and the comment that remembers the former ones.
  private static func withPluginTools(_ manifest: String) -> (text: String, comment: String) {
    guard let version = ToolsVersion(of: manifest), version < .withPlugins else { return (manifest, "") }
    let text = ToolsVersion.replacingLine(of: manifest, with: "// swift-tools-version:\(ToolsVersion.withPlugins)")
    return (text, "\(raisedMark)'\(version.line)'.\n")
  }

  /// The names of the manifests whose tools are too old for plugins.
  package var manifestsToRaise: [String] {
    Self.manifests(in: folder).filter { file in
      guard let text = try? String(contentsOf: file, encoding: .utf8) else { return false }
      return ToolsVersion(of: Self.withoutPart(text)).map { $0 < .withPlugins } ?? false
    }.map(\.lastPathComponent)
  }

  /// Whether a manifest has the paragraph of an earlier call.
  package static func hasPart(_ manifest: String) -> Bool { manifest.contains(mark) }

  /// The manifests of a package, also those for versions of the tools.
  package static func manifests(in folder: URL) -> [URL] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.filter { $0 == "Package.swift" || $0.hasPrefix("Package@swift-") && $0.hasSuffix(".swift") }.sorted()
      .map { folder.appendingPathComponent($0) }
  }

  /// Writes the manifests' paragraphs and the targets' placeholders, replacing those of an earlier call.
  package func apply(dependency: String) throws {
    let part = manifestPart(dependency: Self.dependency(dependency))
    for manifest in Self.manifests(in: folder) {
      let original = Self.withoutPart(try String(contentsOf: manifest, encoding: .utf8))
      let (text, comment) = Self.withPluginTools(original)
      let lines = part.replacingOccurrences(of: "\(Self.mark)\n", with: "\(Self.mark)\n\(comment)")
      try "\(text)\n\(lines)".write(to: manifest, atomically: true, encoding: .utf8)
    }
    for target in targets {
      let file = folder.appendingPathComponent(target.path).appendingPathComponent(Self.placeholder)
      var text = "// Off Apple's platforms, the plugin PersistCoreData compiles the other sources of this target.\n"
      for path in target.exclusions { text += "// except: \(path)\n" }
      for path in target.sources ?? [] { text += "// only: \(path)\n" }
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
  }
}
