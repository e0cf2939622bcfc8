package import Foundation

/// The files beside a store that contain its large values: `.<store name>_SUPPORT/_EXTERNAL_DATA`.
///
/// The store's name appears without its extension. A column names a file; names that lead out of the folder are
/// rejected, and symbolic links aren't followed, since a store from elsewhere could use them to access any file.
package struct ExternalDataFolder: Sendable, Equatable {
  /// The folder to write files to.
  package let url: URL
  /// The store's file, with symbolic links resolved.
  package let store: URL
  /// The folders to look for files in: ``url`` first.
  private let candidates: [URL]

  /// - Parameter store: The store's file. The files of a symbolic link's destination are beside the destination; those
  ///   beside the link itself are only read.
  package init(storeAt store: URL) {
    self.store = SQLiteFileName.resolved(store)
    let own = Self.candidates(besideStoreAt: self.store)
    candidates = own + (FileState.isLink(store) ? Self.candidates(besideStoreAt: store) : [])
    url = own[0]
  }

  private static func candidates(besideStoreAt store: URL) -> [URL] {
    supportFolderNames(ofStoreNamed: store.lastPathComponent).map { name in
      store.deletingLastPathComponent().appendingPathComponent(name, isDirectory: true)
        .appendingPathComponent("_EXTERNAL_DATA", isDirectory: true)
    }
  }

  private static func supportFolderNames(ofStoreNamed name: String) -> [String] {
    // A URL of the name alone would be relative, for which Foundation takes 320,000 instructions at its first use.
    let stem = URL(fileURLWithPath: "/\(name)", isDirectory: false).deletingPathExtension().lastPathComponent
    return [".\(stem)_SUPPORT", ".\(name)_SUPPORT"]
  }

  /// The folders that belong to the store alone, whether they exist or not.
  var ownSupportFolders: [URL] {
    candidates.filter { sharers(of: $0).isEmpty }.map { $0.deletingLastPathComponent() }
  }

  /// The permissions of the store's file, which apply to everything in the folder.
  var permissions: StorePermissions? { StorePermissions(ofStoreAt: store) }

  /// Creates the folder if it doesn't exist.
  ///
  /// - Parameter permissions: The permissions of the store that it is created for, if the store doesn't exist yet.
  /// - Throws: ``PersistenceError/Code/malformedFile`` if there is a symbolic link in its place, and errors of the file
  ///   system.
  package func make(like permissions: StorePermissions? = nil) throws {
    try requireNoLink(url)
    try StorePermissions.makeFolder(url, like: permissions ?? self.permissions)
  }

  /// The file of a value; nil if it doesn't exist.
  ///
  /// - Throws: ``PersistenceError/Code/malformedFile`` for a name that isn't a plain file name, and for a symbolic
  ///   link.
  package func file(named name: String) throws -> URL? { try find(name)?.file }

  private func find(_ name: String) throws -> (file: URL, folder: URL)? {
    guard Self.isPlain(name) else {
      throw PersistenceError(
        .malformedFile, at: .file(url, key: name), "The file of a large value can't have this name.",
        fix: "The store is damaged or was tampered with; these names have 36 letters, digits and hyphens.")
    }
    for folder in candidates where FileState(folder) != nil {
      try requireNoLink(folder)
      let file = folder.appendingPathComponent(name, isDirectory: false)
      if FileState.isLink(file) { throw link(file) }
      if FileState(file)?.isFolder == false { return (file, folder) }
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
    guard let data = try dataIfPresent(named: name) else {
      throw PersistenceError(
        .fileAccess, at: .file(url.appendingPathComponent(name)), "The file of a large value is missing.",
        fix: "Restore the store together with the folder '\(url.deletingLastPathComponent().lastPathComponent)'.")
    }
    return data
  }

  /// The content of a value's file; nil if the file is missing.
  ///
  /// - Throws: ``PersistenceError/Code/fileAccess`` if it can't be read.
  @inline(never)
  func dataIfPresent(named name: String) throws -> Data? {
    guard let file = try file(named: name) else { return nil }
    do {
      return try Data(contentsOf: file)
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(file),
        "The file of a large value can't be read: \(error.localizedDescription)")
    }
  }

  /// The names of all files in the folder, sorted; empty if there is no folder.
  package func names() -> [String] {
    let folders = candidates.filter { (try? requireNoLink($0)) != nil }
    let found = folders.flatMap { (try? FileManager.default.contentsOfDirectory(atPath: $0.path)) ?? [] }
    return Set(found).sorted()
  }

  // MARK: Deleting

  /// The other databases, and unfinished copies, whose large values may be in the same existing folders: their names
  /// differ from the store's only in the extension, or continue it.
  var sharers: [URL] {
    Set(candidates.filter { FileState($0) != nil }.flatMap(sharers(of:))).sorted(on: \.path)
  }

  private func sharers(of candidate: URL) -> [URL] {
    let support = candidate.deletingLastPathComponent()
    let folder = support.deletingLastPathComponent()
    let (shared, own) = (support.lastPathComponent.lowercased(), FileState(store))
    let start = shared.dropFirst().dropLast("_SUPPORT".count)
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.compactMap { name in
      guard name.lowercased().hasPrefix(start) else { return nil }
      let finished = SQLiteFileName.finishedCopy(of: name)
      // A file system may not distinguish upper and lower case.
      let folders = Self.supportFolderNames(ofStoreNamed: finished ?? name).map { $0.lowercased() }
      guard folders.contains(shared) else { return nil }
      let file = folder.appendingPathComponent(name)
      if finished != nil { return file }
      guard let state = FileState(file), state.isRegular, state.size > 0, own?.isSameFile(as: state) != true,
        !SQLiteFileName.isOfCompanion(name)
      else { return nil }
      // A file that can't be read may be a database.
      return DatabaseHeader.read(file) == nil || DatabaseHeader.mayBeDatabase(file) ? file : nil
    }
  }

  /// Deletes the files of values that the store no longer names, except in folders that it shares with other databases:
  /// one of them may be a copy that names the same files.
  ///
  /// A file that can't be deleted does no harm.
  func discard(_ names: some Sequence<String>) {
    var isShared: [URL: Bool] = Dictionary()
    for name in names {
      guard let found = try? find(name) else { continue }
      let sharing = isShared[found.folder] ?? !sharers(of: found.folder).isEmpty
      isShared[found.folder] = sharing
      if !sharing { try? FileManager.default.removeItem(at: found.file) }
    }
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

extension Data {
  /// The name of the file in a column's content, between a byte 2 and a byte 0.
  @inline(never)
  var largeValueName: String { String(decoding: dropFirst().prefix { $0 != 0 }, as: UTF8.self) }
}
