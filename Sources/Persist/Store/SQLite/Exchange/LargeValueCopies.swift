import Foundation

/// The large values that a copy of a store adds to its folder.
///
/// A file gets its name only once it is complete and on disk. Otherwise a later copy would mistake the part that a
/// killed one has written for the value.
final class LargeValueCopies {
  private let target: ExternalDataFolder
  /// The folder of files that aren't complete, in the same file system.
  private let drafts: URL
  /// The names that the target didn't contain before.
  private(set) var added: Set<String> = []

  /// - Parameter drafts: The folder for incomplete files; nil for the target itself, where drafts have names of large
  ///   values, so that those of a killed process are deleted like other files that no row names.
  init(to target: ExternalDataFolder, drafts: URL? = nil) {
    self.target = target
    self.drafts = drafts ?? target.url
  }

  /// Copies the large values of a store, except those that the target contains already. The files are on disk
  /// afterward.
  ///
  /// - Returns: The names of all of the store's files.
  @discardableResult
  func copy(from store: SQLiteConnection) throws -> [String] {
    guard let url = store.url else { return [] }
    let source = ExternalDataFolder(storeAt: url)
    let names = source.names()
    guard !names.isEmpty else { return [] }
    do {
      let permissions = source.permissions
      try target.make(like: permissions)
      for name in names {
        guard let file = try? source.file(named: name) else { continue }
        try copy(file, named: name, permissions)
      }
      try synchronizeFolders()
    } catch let error as PersistenceError {
      throw error
    } catch {
      throw PersistenceError(
        .init(ofWriting: error), at: .file(target.url),
        "The files of large values can't be copied: \(error.localizedDescription)")
    }
    return names
  }

  /// Deletes the added files after a failure, except some.
  func discardAdded(except names: Set<String> = []) {
    target.discard(added.subtracting(names))
    target.removeIfEmpty()
  }

  private func copy(_ file: URL, named name: String, _ permissions: StorePermissions?) throws {
    let place = target.url.appendingPathComponent(name)
    let isNew = FileState(place) == nil && !FileState.isLink(place)
    // Files with other names are foreign, and not replaced.
    guard isNew || UUID(uuidString: name) != nil && Self.isDamaged(place, copiedFrom: file) else { return }
    try Self.copy(file, to: place, drafts: drafts, like: permissions)
    if isNew { added.insert(name) }
  }

  /// Whether an existing file isn't the value of its name, but a part of it or other bytes. A longer file remains: if
  /// anything, the original is damaged.
  private static func isDamaged(_ copy: URL, copiedFrom file: URL) -> Bool {
    guard copy.path != file.path else { return false }
    guard !FileState.isLink(copy), let found = FileState(copy), found.isRegular, let original = FileState(file) else {
      return true
    }
    return found.size <= original.size && !FileManager.default.contentsEqual(atPath: copy.path, andPath: file.path)
  }

  /// Copies a file, which gets its name once it is complete and on disk.
  ///
  /// - Parameter drafts: A folder for the incomplete file, in the file system of its place.
  static func copy(_ file: URL, to place: URL, drafts: URL, like permissions: StorePermissions?) throws {
    let draft = drafts.appendingPathComponent(UUID().uuidString)
    do {
      try FileManager.default.copyItem(at: file, to: draft)
      permissions?.apply(to: draft)
      try move(draft, to: place)
    } catch {
      try? FileManager.default.removeItem(at: draft)
      throw error
    }
  }

  /// Moves a file in place of another one, if there is one.
  private static func move(_ draft: URL, to place: URL) throws {
    try FileSynchronization.synchronize(draft)
    try FileSynchronization.move(draft, inPlaceOf: place)
  }

  /// Waits until the entries of new files and folders are on disk, before rows that name the files are.
  private func synchronizeFolders() throws {
    try FileSynchronization.synchronize(target.url)
    // Folders that this user may not list can't be synchronized.
    let support = target.url.deletingLastPathComponent()
    for folder in [support, support.deletingLastPathComponent()] { try? FileSynchronization.synchronize(folder) }
  }
}
