import Foundation

/// A target as its manifest declares it.
struct DeclaredTarget {
  let name: String
  let path: String
  let folder: URL
  var exclusions: [String] = []
  var sources: [String]?
  var dependencies: Set<String> = []
  /// The declared resources with the names of their rules; nil if nothing is known about them.
  var resources: [(path: String, rule: String)]?

  /// The texts of the target's sources.
  var sourceTexts: [String] {
    SourceFolder(folder).files.filter { isCompiled($0) && $0.lastPathComponent != PackageSetup.placeholder }
      .compactMap { try? String(contentsOf: $0, encoding: .utf8) }
  }

  private func isCompiled(_ file: URL) -> Bool {
    let path = String(file.standardizedFileURL.path.dropFirst(folder.standardizedFileURL.path.count + 1))
    func contains(_ folder: String) -> Bool {
      folder == "." || path == folder || path.hasPrefix(folder.hasSuffix("/") ? folder : folder + "/")
    }
    return !exclusions.contains(where: contains) && sources?.contains(where: contains) != false
  }

  /// The resources with models that are copied as they are; nil if the manifest needs no change.
  var copiedResources: [String]? {
    let found = SourceFolder(folder).resources
    let models = found.filter(\.isModel).map(\.path).filter { model in
      !exclusions.contains { model == $0 || model.hasPrefix($0 + "/") }
    }
    guard let declared = resources else {
      // Nothing is known: every other file is a resource.
      if found.isEmpty { return nil }
      return models.map { Self.expression("copy", $0) }
        + found.filter { !$0.isModel }.map { Self.expression("process", $0.path) }
    }
    guard !models.isEmpty else { return nil }
    var expressions: [String] = []
    var copied: Set<String> = []
    for (path, rule) in declared {
      let inside = models.filter { $0 == path || $0.hasPrefix(path + "/") }
      if inside.isEmpty || rule == "copy" {
        expressions.append(Self.expression(rule, path))
        copied.formUnion(inside)
      } else {
        // A folder that contains models: its other files are processed one by one.
        expressions += found.filter { !$0.isModel && $0.path.hasPrefix(path + "/") }
          .map { Self.expression(rule, $0.path) }
      }
    }
    return models.filter { !copied.contains($0) }.map { Self.expression("copy", $0) } + expressions
  }

  private static func expression(_ rule: String, _ path: String) -> String { ".\(rule)(\"\(path)\")" }
}

/// The targets in the output of `swift package dump-package`.
struct DumpedManifest {
  let targets: [DeclaredTarget]

  init?(_ data: Data, in folder: URL) {
    guard let values = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
      let targets = values["targets"] as? [[String: Any]]
    else { return nil }
    let compiled = targets.filter { ["regular", "executable", "test"].contains($0["type"] as? String ?? "") }
    self.targets = compiled.compactMap { Self.target($0, of: compiled, in: folder) }
  }

  private static func target(
    _ values: [String: Any], of targets: [[String: Any]], in folder: URL
  ) -> DeclaredTarget? {
    guard let name = values["name"] as? String, let path = path(values, name, of: targets, in: folder) else {
      return nil
    }
    var target = DeclaredTarget(
      name: name, path: path, folder: folder.appendingPathComponent(path, isDirectory: true))
    target.exclusions = (values["exclude"] as? [String] ?? []).map(withoutSlash)
    target.sources = (values["sources"] as? [String])?.map(withoutSlash)
    target.dependencies = Set((values["dependencies"] as? [[String: Any]] ?? []).compactMap(dependency))
    target.resources = (values["resources"] as? [[String: Any]] ?? []).compactMap { resource in
      guard let path = resource["path"] as? String else { return nil }
      let rule = (resource["rule"] as? [String: Any])?.keys.first ?? resource["rule"] as? String ?? "process"
      return (path: withoutSlash(path), rule: rule)
    }
    return target
  }

  private static func withoutSlash(_ path: String) -> String {
    var path = path.hasPrefix("./") ? String(path.dropFirst(2)) : path
    while path.hasSuffix("/") { path.removeLast() }
    return path
  }

  /// The name of a target in the same package.
  private static func dependency(_ values: [String: Any]) -> String? {
    (values["byName"] as? [Any])?.first as? String ?? (values["target"] as? [Any])?.first as? String
  }

  /// The folder, relative to the package: the declared one, or the one where SwiftPM searches.
  private static func path(
    _ values: [String: Any], _ name: String, of targets: [[String: Any]], in folder: URL
  ) -> String? {
    if let path = values["path"] as? String { return withoutSlash(path) }
    let isTest = values["type"] as? String == "test"
    let bases = isTest ? ["Tests", "Sources", "Source", "src", "srcs"] : ["Sources", "Source", "src", "srcs"]
    for base in bases where folder.appendingPathComponent("\(base)/\(name)").isFolder { return "\(base)/\(name)" }
    // The only target of its kind may have its sources in the base itself.
    let others = targets.filter { ($0["type"] as? String == "test") == isTest }
    return others.count == 1 ? bases.first { folder.appendingPathComponent($0).isFolder } : nil
  }
}

extension URL {
  var isFolder: Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) && isFolder.boolValue
  }
}
