package import Foundation

extension ModelFiles {
  /// Whether a JSON file found in a search is a Persist model, intact or damaged: it starts with one of a model's keys
  /// and has a format number.
  static func isModel(_ url: URL) -> Bool {
    guard let data = try? BoundedFile.data(at: url, limit: JSONReader.byteLimit),
      data.range(of: Data("\"format\"".utf8)) != nil
    else { return false }
    let start = String(decoding: data.prefix(4096), as: UTF8.self).filter { !$0.isWhitespace }
    return start.prefixMatch(of: /\{"(composites|configurations|entities|fetchRequests|format)":/) != nil
  }

  /// The files that a registry reads from a folder, a model or a mapping model.
  fileprivate var contents: [URL] {
    let roots = sourceFamilies + compiledFamilies + single + mappingModels + undecided.filter(Self.isModel)
    return roots.flatMap { root -> [URL] in
      guard root.isFolder else { return [root] }
      let names = FileManager.default.enumerator(atPath: root.path)?.compactMap { $0 as? String } ?? []
      return names.sorted().map { root.appendingPathComponent($0) }.filter { !$0.isFolder }
    }
  }
}

extension ModelRegistry {
  /// The files of all models and mapping models at a place, for copying them elsewhere.
  ///
  /// - Parameter url: A folder or one model, as for ``init(contentsOf:)``.
  /// - Returns: The files, with their paths relative to the place, or to the folder around a single model.
  /// - Throws: ``PersistenceError/Code/modelNotFound`` and ``PersistenceError/Code/fileAccess``.
  package static func files(at url: URL) throws -> [(path: String, url: URL)] {
    let found = try ModelFiles(at: url)
    let isSearched = url.isFolder && !found.contents.contains { $0.path == url.path }
      && !["xcdatamodeld", "xcdatamodel", "momd", "xcmappingmodel"].contains(url.pathExtension.lowercased())
    var root = isSearched ? url : url.deletingLastPathComponent()
    if url.lastPathComponent == "contents" { root = root.deletingLastPathComponent() }
    let prefix = root.standardizedFileURL.path
    return found.contents.map { file in
      let path = file.standardizedFileURL.path
      let isWithin = path.hasPrefix(prefix + "/")
      return (isWithin ? String(path.dropFirst(prefix.count + 1)) : file.lastPathComponent, file)
    }
  }
}
