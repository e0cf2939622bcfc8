import Foundation

/// A family of models as its files show it, before its versions are read.
struct ModelFamilyFiles {
  let name: String
  let url: URL?
  private(set) var files: [VersionFile] = []
  /// The current version's name, as the files say it.
  private(set) var statedCurrent: String?

  private init(_ name: String, url: URL?) {
    self.name = name
    self.url = url
  }

  /// Reads an `.xcdatamodeld`.
  static func source(at folder: URL) throws -> ModelFamilyFiles {
    var family = ModelFamilyFiles(folder.stem, url: folder)
    for url in try folder.entries() where url.pathExtension.lowercased() == "xcdatamodel" { family.add(url) }
    family.statedCurrent = try currentVersion(of: folder)
    try family.checkNotEmpty(of: "an .xcdatamodel", in: folder)
    return family
  }

  /// Reads a `.momd`.
  static func compiled(at folder: URL) throws -> ModelFamilyFiles {
    var family = ModelFamilyFiles(folder.stem, url: folder)
    let info =
      folder.appendingPathComponent("VersionInfo.plist").isThere ? try ModelVersionInfo(inFolder: folder) : nil
    for url in try folder.entries() where url.pathExtension.lowercased() == "mom" {
      family.add(url, coreDataHashes: info?.hashes[url.stem])
    }
    family.statedCurrent = info?.currentVersion
    try family.checkNotEmpty(of: "a .mom", in: folder)
    return family
  }

  /// Puts single model files together: those of one folder whose names differ only in the number at the end.
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
      for url in urls.sorted(by: { NaturalOrder.precedes($0.path, $1.path) }) { family.add(url) }
      return family
    }.sorted { NaturalOrder.precedes($0.name, $1.name) }
  }

  /// The model in a file of any form.
  static func model(at url: URL) throws -> ReadModel {
    switch url.pathExtension.lowercased() {
    case "mom": try XcodeModelArchive.model(at: url)
    case "json":
      ReadModel(try ModelDescription(json: BoundedFile.data(at: url, limit: JSONReader.byteLimit), from: url))
    default: try XMLModelReader.model(at: url)
    }
  }

  private mutating func add(_ url: URL, coreDataHashes: [String: Data]? = nil) {
    files.append(
      VersionFile(url.stem, url: url) {
        ModelVersion(
          name: url.stem, model: try ManagedObjectModel(Self.model(at: url), file: url), url: url,
          coreDataHashes: coreDataHashes)
      })
  }

  /// The family with its current version.
  ///
  /// - Parameters:
  ///   - mappingModels: what also tells the order of the versions.
  ///   - needsCurrent: false to have the newest version that can be read in the place of a current one that can't.
  /// - Throws: why the current version can't be read.
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
    return ModelFamily(name, contents, current: current, url: url).ordered(by: mappingModels)
  }

  /// Takes over what a copy or the compiled form of the same family says besides: hashes, and versions that only it
  /// has. Both forms are read for it.
  ///
  /// - Returns: false where it is another family, or a version is another one there; nothing is taken then.
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
      .modelNotFound, at: .file(folder), "'\(folder.lastPathComponent)' holds no version: expected \(what) in it.")
  }

  /// What the property list `.xccurrentversion` names; nil where there is none.
  private static func currentVersion(of folder: URL) throws -> String? {
    let file = folder.appendingPathComponent(".xccurrentversion")
    guard file.isThere else { return nil }
    let list = try PropertyList(data: BoundedFile.data(at: file, limit: 1 << 20), place: .file(file))
    // Xcode leaves the key out where it never asked which version is current.
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
  /// The last part of the path without its extension.
  var stem: String { deletingPathExtension().lastPathComponent }

  /// What is in a folder, in natural order.
  fileprivate func entries() throws -> [URL] {
    do {
      return try FileManager.default.contentsOfDirectory(atPath: path).sorted(by: NaturalOrder.precedes)
        .map { appendingPathComponent($0) }
    } catch {
      throw PersistenceError(.fileAccess, at: .file(self), "The folder can't be read: \(error.localizedDescription)")
    }
  }
}
