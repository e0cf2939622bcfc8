import Foundation

/// The files beside a store that contain its large values: `.<store name>_SUPPORT/_EXTERNAL_DATA`.
///
/// The store's name appears without its extension. A column names a file; names that lead out of the folder are
/// rejected, and symbolic links aren't followed, since a store from elsewhere could use them to access any file.
struct ExternalDataFolder: Sendable, Hashable {
  /// The folder to write files to.
  let url: URL
  private let store: URL
  /// The folders to look for files in: ``url`` first.
  private let candidates: [URL]

  init(storeAt store: URL) {
    self.store = store
    let folder = store.deletingLastPathComponent()
    let names = [store.deletingPathExtension().lastPathComponent, store.lastPathComponent]
    candidates = names.map { name in
      folder.appendingPathComponent(".\(name)_SUPPORT", isDirectory: true)
        .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    }
    url = candidates[0]
  }

  /// The folders that belong to the store and are moved with it, whether they exist or not.
  var supportFolders: [URL] { candidates.map { $0.deletingLastPathComponent() } }

  /// The permissions of the store's file, which apply to everything in the folder.
  var permissions: StorePermissions? { StorePermissions(ofStoreAt: store) }

  /// Creates the folder if it doesn't exist.
  ///
  /// - Parameter permissions: The permissions of the store that it is created for, if the store doesn't exist yet.
  /// - Throws: ``PersistenceError/Code/malformedFile`` if there is a symbolic link in its place, and errors of the file
  ///   system.
  func make(like permissions: StorePermissions? = nil) throws {
    try requireNoLink(url)
    try StorePermissions.makeFolder(url, like: permissions ?? self.permissions)
  }

  /// The file of a value; nil if it doesn't exist.
  ///
  /// - Throws: ``PersistenceError/Code/malformedFile`` for a name that isn't a plain file name, and for a symbolic
  ///   link.
  func file(named name: String) throws -> URL? {
    guard Self.isPlain(name) else {
      throw PersistenceError(
        .malformedFile, at: .file(url, key: name), "The file of a large value can't have this name.",
        fix: "The store is damaged or was tampered with; these names have 36 letters, digits and hyphens.")
    }
    for folder in candidates where FileState(folder) != nil {
      try requireNoLink(folder)
      let file = folder.appendingPathComponent(name, isDirectory: false)
      if FileState.isLink(file) { throw link(file) }
      if FileState(file)?.isFolder == false { return file }
    }
    return nil
  }

  /// - Parameter folder: One of the candidates.
  private func requireNoLink(_ folder: URL) throws {
    for part in [folder.deletingLastPathComponent(), folder] where FileState.isLink(part) { throw link(part) }
  }

  private func link(_ url: URL) -> PersistenceError {
    PersistenceError(
      .malformedFile, at: .file(url), "'\(url.lastPathComponent)' is a symbolic link, which isn't followed.",
      fix: "If you trust the origin of the store, replace the link with the file or folder itself.")
  }

  /// The content of a value's file.
  ///
  /// - Throws: ``PersistenceError/Code/fileAccess`` if the file is missing or can't be read.
  func data(named name: String) throws -> Data {
    guard let file = try file(named: name) else {
      throw PersistenceError(
        .fileAccess, at: .file(url.appendingPathComponent(name)), "The file of a large value is missing.",
        fix: "Restore the store together with the folder '\(url.deletingLastPathComponent().lastPathComponent)'.")
    }
    do {
      return try Data(contentsOf: file)
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(file),
        "The file of a large value can't be read: \(error.localizedDescription)")
    }
  }

  /// The names of all files in the folder, sorted; empty if there is no folder.
  func names() -> [String] {
    let folders = candidates.filter { (try? requireNoLink($0)) != nil }
    let found = folders.flatMap { (try? FileManager.default.contentsOfDirectory(atPath: $0.path)) ?? [] }
    return Set(found).sorted()
  }

  /// Deletes the folder if it is empty.
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
