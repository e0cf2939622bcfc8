import Foundation

/// The files beside a store that hold its large values: `.<store name>_SUPPORT/_EXTERNAL_DATA`.
///
/// The store's name stands there without its extension. A column names a file; a name that would lead out of the folder
/// is refused.
struct ExternalDataFolder: Sendable, Hashable {
  /// Where files are written.
  let url: URL
  /// Where files are looked for: ``url`` first.
  private let candidates: [URL]

  init(storeAt store: URL) {
    let folder = store.deletingLastPathComponent()
    let names = [store.deletingPathExtension().lastPathComponent, store.lastPathComponent]
    candidates = names.map { name in
      folder.appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
        .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    }
    url = candidates[0]
  }

  /// The folders that belong to the store and go where it goes, whether they exist or not.
  var supportFolders: [URL] { candidates.map { $0.deletingLastPathComponent() } }

  /// The file of a value, nil where there is none.
  ///
  /// - Throws: ``PersistError/Code/malformedFile`` for a name that isn't a plain file's.
  func file(named name: String) throws -> URL? {
    guard Self.isPlain(name) else {
      throw PersistError(
        .malformedFile, at: .file(url, key: name), "A value's file can't have this name.",
        fix: "The store was damaged or made to mislead; a file's name is 36 letters, digits and hyphens.")
    }
    return candidates.lazy.map { $0.appendingPathComponent(name, isDirectory: false) }.first {
      var isFolder: ObjCBool = false
      return FileManager.default.fileExists(atPath: $0.path, isDirectory: &isFolder) && !isFolder.boolValue
    }
  }

  /// The content of a value's file.
  ///
  /// - Throws: ``PersistError/Code/fileAccess`` where the file is missing or can't be read.
  func data(named name: String) throws -> Data {
    guard let file = try file(named: name) else {
      throw PersistError(
        .fileAccess, at: .file(url.appendingPathComponent(name)), "The file of an externally stored value is missing.",
        fix: "Restore the store together with the folder '\(url.deletingLastPathComponent().lastPathComponent)'.")
    }
    do {
      return try Data(contentsOf: file)
    } catch {
      throw PersistError(.fileAccess, at: .file(file), "A value's file can't be read: \(error.localizedDescription)")
    }
  }

  /// The names of all files in the folder, in order; empty where there is no folder.
  func names() -> [String] {
    let found = candidates.flatMap { (try? FileManager.default.contentsOfDirectory(atPath: $0.path)) ?? [] }
    return Set(found).sorted()
  }

  /// Takes the folder away where nothing is left in it.
  func removeIfEmpty() {
    for folder in [url, url.deletingLastPathComponent()] {
      guard (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.isEmpty == true else { return }
      try? FileManager.default.removeItem(at: folder)
    }
  }

  private static func isPlain(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.count <= 255 && !name.hasPrefix(".")
      && name.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}
