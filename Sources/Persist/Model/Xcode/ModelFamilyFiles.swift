import Foundation

/// A family of models as it is read from files: the versions that can be read, and the errors of the others.
struct ModelFamilyFiles {
  let name: String
  let url: URL?
  private(set) var versions: [ModelVersion] = []
  private(set) var errors: [String: PersistError] = [:]
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

  /// The description that a model file of any form holds.
  static func description(at url: URL) throws -> ModelDescription {
    switch url.pathExtension.lowercased() {
    case "mom": try XcodeModelArchive.model(at: url)
    case "json": try ModelDescription(json: BoundedFile.data(at: url, limit: JSONReader.byteLimit), from: url)
    default: try XMLModelReader.model(at: url)
    }
  }

  private mutating func add(_ url: URL, coreDataHashes: [String: Data]? = nil) {
    do {
      let model = try ManagedObjectModel(Self.description(at: url), file: url)
      versions.append(ModelVersion(name: url.stem, model: model, url: url, coreDataHashes: coreDataHashes))
    } catch let error as PersistError {
      errors[url.stem] = error
    } catch {
      errors[url.stem] = PersistError(.fileAccess, at: .file(url), error.localizedDescription)
    }
  }

  /// The name of the current version: the one that the files state, or else the newest, readable or not.
  var current: String? {
    let names = versions.map(\.name) + errors.keys
    if let statedCurrent, names.contains(statedCurrent) { return statedCurrent }
    return names.filter { $0 != name }.max(by: NaturalOrder.precedes) ?? names.first
  }

  /// The family, unless there is no version or the current one can't be read.
  var family: ModelFamily? {
    guard !versions.isEmpty, let current, errors[current] == nil else { return nil }
    return ModelFamily(name, versions: versions, current: current, url: url)
  }

  /// Takes over what a copy or the compiled form of the same family says besides: hashes, and versions that only it
  /// has.
  ///
  /// - Returns: false where it is another family, or a version is another one there; nothing is taken then.
  mutating func merge(_ other: ModelFamilyFiles) -> Bool {
    let own = Dictionary(versions.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    let isSame = other.versions.allSatisfy { version in
      own[version.name].map { $0.model.isStoredLike(version.model) } ?? true
    }
    guard name == other.name, isSame, !Set(own.keys).isDisjoint(with: other.versions.map(\.name)) else { return false }
    for version in other.versions {
      if let index = versions.firstIndex(where: { $0.name == version.name }) {
        let mine = versions[index]
        versions[index] = ModelVersion(
          name: mine.name, model: mine.model, url: mine.url,
          coreDataHashes: mine.coreDataHashes ?? version.coreDataHashes)
      } else {
        versions.append(version)
        errors[version.name] = nil
      }
    }
    for (name, error) in other.errors where own[name] == nil { errors[name] = error }
    statedCurrent = statedCurrent ?? other.statedCurrent
    return true
  }

  private func checkNotEmpty(of what: String, in folder: URL) throws {
    guard versions.isEmpty && errors.isEmpty else { return }
    throw PersistError(
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
      throw PersistError(
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
      throw PersistError(.fileAccess, at: .file(self), "The folder can't be read: \(error.localizedDescription)")
    }
  }
}
