/// Finds names that a folder of the framework may not use, because they are declared in a lower folder.
public struct LayerRules: Sendable {
  /// A use of a name from a lower folder.
  public struct Violation: Sendable, Hashable, CustomStringConvertible {
    public let file: String
    public let line: Int
    public let name: String
    public let folder: String
    public let declaredIn: String

    public var description: String {
      "\(file):\(line): \(folder) names \(name), which \(declaredIn) declares; a folder names only those above it"
    }
  }

  /// Folders from the top down. A file belongs to the longest of them that its path starts with.
  let folders: [String]

  public init(folders: [String]) { self.folders = folders }

  /// - Parameter sources: Files with their paths within the framework's folder.
  /// - Returns: All upward references; files in none of the folders are reported as such.
  public func violations(in sources: [(path: String, source: SwiftSource)]) -> [Violation] {
    let placed = sources.compactMap { file in folder(of: file.path).map { (file.path, file.source, $0) } }
    // Types at file level by name; types inside others by "Outer.Inner". The highest declaration counts, so that a name
    // used by several folders for inner types is never mistaken for one from a lower folder.
    var topLevel: [String: Int] = [:]
    var nested: [String: Int] = [:]
    var nestedNames: [Int: Set<String>] = [:]
    for (_, source, folder) in placed {
      for declaration in source.declarations where !declaration.isPrivate {
        if let enclosing = declaration.enclosing {
          let name = enclosing + "." + declaration.name
          nested[name] = min(nested[name] ?? .max, folder)
          nestedNames[folder, default: []].insert(declaration.name)
        } else {
          topLevel[declaration.name] = min(topLevel[declaration.name] ?? .max, folder)
        }
      }
    }
    return placed.flatMap { path, source, folder in
      uses(in: source, of: folder, topLevel: topLevel, nested: nested) { name in
        (0...folder).contains { nestedNames[$0]?.contains(name) == true }
          || source.declarations.contains { $0.name == name }
      }.map { name, line, declaredIn in
        Violation(
          file: path, line: line, name: name, folder: folders[folder], declaredIn: folders[declaredIn])
      }
    }
  }

  /// The references from a file to declarations in lower folders than its own.
  public func upward(_ references: some Sequence<IndexStore.Reference>) -> [IndexStore.Reference] {
    references.filter { reference in
      guard let user = folder(of: reference.file), let declaring = folder(of: reference.declaredIn) else { return false }
      return declaring > user
    }
  }

  /// The files that belong to none of the folders.
  public func strays(in paths: [String]) -> [String] { paths.filter { folder(of: $0) == nil } }

  private func folder(of path: String) -> Int? {
    folders.indices.filter { path.hasPrefix(folders[$0] + "/") }.max { folders[$0].count < folders[$1].count }
  }

  private func uses(
    in source: SwiftSource, of folder: Int, topLevel: [String: Int], nested: [String: Int],
    isOwn: (String) -> Bool
  ) -> [(name: String, line: Int, declaredIn: Int)] {
    var found: [(String, Int, Int)] = []
    let tokens = source.tokens
    for (index, token) in tokens.enumerated() where token.kind == .identifier {
      let followsDot = index > 0 && tokens[index - 1].text == "." && tokens[index - 1].kind == .punctuation
      if !followsDot, let declaredIn = topLevel[token.text], declaredIn > folder, !isOwn(token.text) {
        found.append((token.text, token.line, declaredIn))
      }
      if index + 2 < tokens.count, tokens[index + 1].text == "." {
        let name = token.text + "." + tokens[index + 2].text
        if let declaredIn = nested[name], declaredIn > folder { found.append((name, token.line, declaredIn)) }
      }
    }
    return found
  }
}
