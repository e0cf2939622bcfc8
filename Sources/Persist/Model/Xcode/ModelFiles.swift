import Foundation

/// The model files and mapping models in a folder and all its subfolders, not yet read.
struct ModelFiles {
  /// The limits of a search.
  struct Limits {
    var depth = 32
    var entries = 200_000
  }

  /// `.xcdatamodeld` folders.
  private(set) var sourceFamilies: [URL] = []
  /// `.momd` folders.
  private(set) var compiledFamilies: [URL] = []
  /// `.xcdatamodel`, `.mom` and Persist's `.json` outside a family's folder.
  private(set) var single: [URL] = []
  /// `.xcmappingmodel` folders and `.cdm` files.
  private(set) var mappingModels: [URL] = []
  /// Files that may be models, judging only by their names: a `.json` file may contain anything.
  private(set) var undecided: [URL] = []

  private let limits: Limits
  private var entries = 0

  /// Classifies a URL: a single model file, or a folder, which is searched. Hidden files are skipped, and links to
  /// folders aren't followed, except to a model's own folder.
  init(at url: URL, limits: Limits = Limits()) throws {
    self.limits = limits
    guard url.isThere else {
      throw PersistenceError(
        .fileAccess, at: .file(url), "'\(url.lastPathComponent)' doesn't exist.",
        fix: "Name a model, or a folder with models.")
    }
    if url.lastPathComponent == "contents", !url.isFolder {
      single = [url.deletingLastPathComponent()]
    } else if url.pathExtension.lowercased() == "json", !url.isFolder {
      single = [url]
    } else if !sort(url) {
      guard url.isFolder else {
        throw PersistenceError(
          .modelNotFound, at: .file(url), "'\(url.lastPathComponent)' isn't a model file.",
          fix: "Specify a folder, an .xcdatamodeld, .xcdatamodel, .momd, .mom, or a Persist model .json.")
      }
      try search(url)
    }
  }

  private mutating func search(_ root: URL) throws {
    var pending = [(folder: root, depth: 0)]
    while let (folder, depth) = pending.popLast() {
      let names: [String]
      do {
        names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      } catch {
        throw PersistenceError(
          .fileAccess, at: .file(folder), "The folder can't be read: \(error.localizedDescription)")
      }
      entries += names.count
      guard entries <= limits.entries else {
        throw PersistenceError(
          .limitExceeded, at: .file(root), "The folder contains more than \(limits.entries) files.",
          fix: "Specify a folder that contains models and little else.")
      }
      for name in NaturalOrder.sorted(names) where !name.hasPrefix(".") {
        let url = folder.appendingPathComponent(name)
        if sort(url) { continue }
        if url.pathExtension.lowercased() == "json" {
          undecided.append(url)
        } else if Self.isOwnFolder(url) {
          guard depth < limits.depth else {
            throw PersistenceError(.limitExceeded, at: .file(url), "Folders are nested more than \(limits.depth) deep.")
          }
          pending.append((url, depth + 1))
        }
      }
    }
  }

  /// Adds a model or a mapping model to the list of its kind.
  ///
  /// - Returns: false for everything else.
  private mutating func sort(_ url: URL) -> Bool {
    switch url.pathExtension.lowercased() {
    case "xcdatamodeld": sourceFamilies.append(url)
    case "momd": compiledFamilies.append(url)
    case "xcdatamodel", "mom": single.append(url)
    case "xcmappingmodel", "cdm": mappingModels.append(url)
    default: return false
    }
    return true
  }

  /// Whether the URL is a folder itself and not a link to one, which could cause a cycle.
  private static func isOwnFolder(_ url: URL) -> Bool {
    let type = try? FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
    return type == .typeDirectory
  }
}
