import Foundation

/// A family of models as its files describe it, before its versions are read.
struct ModelFamilyFiles {
  let name: String
  let url: URL?
  private(set) var files: [VersionFile] = []
  /// The name of the current version according to the files.
  private(set) var statedCurrent: String?

  private init(_ name: String, url: URL?) {
    self.name = name
    self.url = url
  }

  /// Reads an `.xcdatamodeld`.
  static func source(at folder: URL) throws -> ModelFamilyFiles {
    var family = ModelFamilyFiles(folder.stem, url: folder)
    for file in try folder.files(withExtension: "xcdatamodel") {
      family.add(file.stem, url: folder.appendingPathComponent(file.name))
    }
    family.statedCurrent = try currentVersion(of: folder)
    try family.checkNotEmpty(of: "an .xcdatamodel", in: folder)
    return family
  }

  /// Reads a `.momd`.
  static func compiled(at folder: URL) throws -> ModelFamilyFiles {
    var family = ModelFamilyFiles(folder.stem, url: folder)
    let info =
      folder.appendingPathComponent("VersionInfo.plist").isThere ? try ModelVersionInfo(inFolder: folder) : nil
    for file in try folder.files(withExtension: "mom") {
      family.add(file.stem, url: folder.appendingPathComponent(file.name), coreDataHashes: info?.hashes[file.stem])
    }
    family.statedCurrent = info?.currentVersion
    try family.checkNotEmpty(of: "a .mom", in: folder)
    return family
  }

  /// Groups individual model files in the same folder whose names differ only in the number at the end.
  static func single(_ urls: [URL]) -> [ModelFamilyFiles] {
    struct Group: Hashable {
      let folder: String
      let fileExtension: String
      let name: String
    }
    let groups = Dictionary(grouping: urls) { url in
      Group(
        folder: url.deletingLastPathComponent().path, fileExtension: url.pathExtension.lowercased(),
        name: nameWithoutNumber(url.stem))
    }
    return groups.map { group, urls in
      var family = ModelFamilyFiles(urls.count == 1 ? urls[0].stem : group.name, url: nil)
      for url in urls.ordered(by: { NaturalOrder.precedes($0.path, $1.path) }) { family.add(url.stem, url: url) }
      return family
    }.ordered { NaturalOrder.precedes($0.name, $1.name) }
  }

  /// Returns the file of the current version of an `.xcdatamodeld` or `.momd`, without reading it if the family names
  /// that version; any other URL is returned as is.
  static func modelFile(at url: URL) throws -> URL {
    let family: ModelFamilyFiles
    switch url.pathExtension.lowercased() {
    case "xcdatamodeld": family = try source(at: url)
    case "momd": family = try compiled(at: url)
    default: return url
    }
    let versions = FamilyVersions(family.files, family: family.name, isOrdered: false)
    return versions.currentFile(named: family.statedCurrent)?.url ?? url
  }

  /// Reads the model in a file of any format.
  static func model(at url: URL) throws -> ParsedModel {
    switch url.pathExtension.lowercased() {
    case "mom": try XcodeModelArchive.model(at: url)
    case "json":
      ParsedModel(try ModelDescription(json: BoundedFile.data(at: url, limit: JSONReader.byteLimit), from: url))
    default: try XMLModelReader.model(at: url)
    }
  }

  private mutating func add(
    _ name: String, url: @escaping @autoclosure @Sendable () -> URL, coreDataHashes: [String: Data]? = nil
  ) {
    files.append(
      VersionFile(name, url: url()) { url in
        ModelVersion(
          name: name, model: try ManagedObjectModel(Self.model(at: url), file: url), url: url,
          coreDataHashes: coreDataHashes)
      })
  }

  /// Returns the family with its current version.
  ///
  /// - Parameters:
  ///   - mappingModels: further evidence of the versions' order.
  ///   - needsCurrent: false to substitute the newest readable version if the current one can't be read.
  /// - Throws: the reason why the current version can't be read.
  func family(_ mappingModels: [MappingModelFile], needsCurrent: Bool) throws(PersistenceError) -> ModelFamily? {
    let contents = FamilyVersions(files, family: name, isOrdered: false)
    guard let file = contents.currentFile(named: statedCurrent) else { return nil }
    let current: ModelVersion
    do throws(PersistenceError) {
      current = try file.version()
    } catch {
      guard !needsCurrent, let newest = contents.all.versions.last else { throw error }
      current = newest
    }
    return ModelFamily(name, contents, current: current, currentName: file.name, url: url).ordered(by: mappingModels)
  }

  /// Merges additional information from a copy or the compiled form of the same family: hashes, and versions that only
  /// it has. Both forms are read for this.
  ///
  /// - Returns: false, without changes, if it is another family or a version differs.
  mutating func merge(_ other: ModelFamilyFiles) -> Bool {
    guard name == other.name else { return false }
    var merged = files
    var isShared = false
    for file in other.files {
      guard let index = merged.firstIndex(where: { $0.name == file.name }) else {
        merged.append(file)
        continue
      }
      guard let theirs = try? file.version() else { continue }
      guard let mine = try? merged[index].version() else {
        merged[index] = file
        continue
      }
      guard mine.model.isStoredLike(theirs.model) else { return false }
      isShared = true
      merged[index] = VersionFile(
        ModelVersion(
          name: mine.name, model: mine.model, url: mine.url,
          coreDataHashes: mine.coreDataHashes ?? theirs.coreDataHashes))
    }
    guard isShared else { return false }
    files = merged
    statedCurrent = statedCurrent ?? other.statedCurrent
    return true
  }

  private func checkNotEmpty(of what: String, in folder: URL) throws {
    guard files.isEmpty else { return }
    throw PersistenceError(
      .modelNotFound, at: .file(folder), "'\(folder.lastPathComponent)' contains no version: expected \(what) in it.")
  }

  /// Returns the version named in the property list `.xccurrentversion`; nil if there is none.
  private static func currentVersion(of folder: URL) throws -> String? {
    let file = folder.appendingPathComponent(".xccurrentversion")
    guard file.isThere else { return nil }
    let data = try BoundedFile.data(at: file, limit: 1 << 20)
    let lines = data.split(separator: UInt8(ascii: "\n"))
    guard !lines.contains(where: { $0.starts(with: "<<<<<<< ".utf8) || $0.starts(with: ">>>>>>> ".utf8) }) else {
      throw PersistenceError(
        .malformedFile, at: .file(file), "The file contains a merge conflict: two branches name different versions.",
        fix: "Keep one of the two. 'persist merge-versions' then makes a version with the changes of both.")
    }
    let list = try PropertyList(data: data, place: .file(file))
    // Xcode omits the key until a current version is chosen.
    guard let entry = list["_XCCurrentVersionName"] else { return nil }
    guard let name = entry.stringValue else {
      throw PersistenceError(
        .malformedFile, at: .file(file, key: "_XCCurrentVersionName"), "Expected the name of an .xcdatamodel.")
    }
    return URL(fileURLWithPath: name).stem
  }

  private static func nameWithoutNumber(_ name: String) -> String {
    let trimmed = String(name.reversed().drop { $0.isNumber }.drop { " _-.".contains($0) }.reversed())
    return trimmed.isEmpty ? name : trimmed
  }
}

extension URL {
  /// The last path component without its extension.
  package var stem: String { deletingPathExtension().lastPathComponent }

  /// Returns the names of the files in a folder that have an extension, in natural order, with and without it.
  ///
  /// - Parameter fileExtension: An extension in lowercase ASCII; that of a file may be in uppercase.
  fileprivate func files(withExtension fileExtension: String) throws -> [(name: String, stem: String)] {
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw PersistenceError(.fileAccess, at: .file(self), "The folder can't be read: \(error.localizedDescription)")
    }
    let suffix = ".\(fileExtension)"
    return NaturalOrder.sorted(names.filter { $0.lowercased().hasSuffix(suffix) && $0.count > suffix.count })
      .map { ($0, String($0.dropLast(suffix.count))) }
  }
}
