import Foundation

/// The hidden folder beside a store that says of a backup which is in use, so that a process that is killed leaves
/// neither a copy that nobody asked for nor a store that was about to be restored.
final class BackupFolder {
  /// What stands in the folder.
  private struct Note: Codable {
    /// Where the copy is.
    var copy: URL
    var isKept: Bool
    /// Whether the copy is about to take the store's place.
    var isRestoring = false
  }

  private let url: URL
  private let store: URL
  private let lock: FolderLock
  private var note: Note

  var copy: URL { note.copy }

  private init(_ url: URL, of store: URL, lock: FolderLock, note: Note) {
    (self.url, self.store, self.lock, self.note) = (url, store, lock, note)
  }

  /// - Parameter wait: how long to wait for another process that migrates the store.
  /// - Throws: ``PersistenceError/Code/storeBusy`` where the wait runs out.
  convenience init(
    besideStoreAt store: URL, for backup: MigrationBackup, waitingAtMost wait: Duration = .zero
  ) throws {
    let url = Self.place(besideStoreAt: store)
    let lock = try FolderLock.make(url, besideStoreAt: store, waitingAtMost: wait)
    let note =
      switch backup {
      case .removedAfterwards: Note(copy: url.appendingPathComponent(store.lastPathComponent), isKept: false)
      case .kept(let place): Note(copy: place, isKept: true)
      }
    self.init(url, of: store, lock: lock, note: note)
    // A copy of this name is somebody's, and isn't to be taken for one that this process began.
    guard FileState(note.copy) == nil else {
      remove(keepingCopy: true)
      throw PersistenceError(
        .fileAccess, at: .file(note.copy), "There is a file of this name already.",
        fix: "Choose another name for the backup.")
    }
    try write()
  }

  static func place(besideStoreAt store: URL) -> URL {
    store.deletingLastPathComponent().appendingPathComponent(".\(store.lastPathComponent).backup", isDirectory: true)
  }

  // MARK: Restoring

  /// Whether the store can't be used: a store that is only in use by others isn't damaged.
  var isStoreDamaged: Bool { (try? canReadStore(toItsEnd: true)) == false }

  /// - Parameter toItsEnd: whether all of it is read, and not only what says which store it is.
  private func canReadStore(toItsEnd: Bool) throws -> Bool {
    guard FileState(store) != nil else { return true }
    do {
      let connection = try SQLiteConnection(store, mode: .readWrite)
      defer { connection.close() }
      _ = try StoreCatalog(connection)
      return try !toItsEnd || connection.all(.integrityCheck) { $0.text(0) } == ["ok"]
    } catch let error where Self.saysDamaged(error) {
      return false
    }
  }

  private static func saysDamaged(_ error: any Error) -> Bool {
    guard let error = error as? PersistenceError else { return false }
    return [.storeDamaged, .notAStore].contains(error.code)
  }

  /// Puts the copy into the store's place.
  func restore() throws {
    note.isRestoring = true
    try write()
    do {
      try StoreBackup.replace(storeAt: store, withStoreAt: copy)
    } catch let error where Self.saysDamaged(error) {
      // Not even a database any more.
      for file in [store] + SQLiteFileName.companions(of: store) where FileState(file) != nil {
        try FileManager.default.removeItem(at: file)
      }
      try StoreBackup.copy(storeAt: copy, to: store)
    }
    note.isRestoring = false
    try write()
  }

  // MARK: The end

  /// Takes the folder away, and the copy with it where it isn't to stay.
  func remove(keepingCopy: Bool) {
    if !keepingCopy {
      for file in [copy] + ExternalDataFolder(storeAt: copy).supportFolders {
        try? FileManager.default.removeItem(at: file)
      }
      removePartialCopies()
    }
    try? FileManager.default.removeItem(at: url)
  }

  /// What a process left that was killed while it made the copy.
  private func removePartialCopies() {
    let folder = copy.deletingLastPathComponent()
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    where name.hasPrefix(copy.lastPathComponent + StoreBackup.partialSuffix) {
      try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
    }
  }

  // MARK: After a kill

  /// Ends what a killed migration left: a store that can't be read comes from its copy.
  static func settle(besideStoreAt store: URL) throws {
    let url = place(besideStoreAt: store)
    guard FileState(url) != nil, let lock = FolderLock.take(url) else { return }
    guard let content = FileManager.default.contents(atPath: file(in: url).path),
      let note = try? JSONDecoder().decode(Note.self, from: content)
    else {
      // Killed before anything was begun.
      try? FileManager.default.removeItem(at: url)
      return
    }
    try BackupFolder(url, of: store, lock: lock, note: note).settle()
  }

  private func settle() throws {
    if FileState(copy) != nil, try note.isRestoring || !canReadStore(toItsEnd: false) { try restore() }
    // A copy that was to be kept stays where it was finished and the migration came.
    let isWanted = note.isKept && FileState(copy) != nil && fingerprints(of: store) != fingerprints(of: copy)
    remove(keepingCopy: isWanted)
  }

  private func fingerprints(of file: URL) -> [String: Fingerprint]? {
    try? SQLiteConnection.reading(file) { try StoreCatalog($0).record?.fingerprints }
  }

  private static func file(in folder: URL) -> URL { folder.appendingPathComponent("backup.json") }

  private func write() throws {
    try FileSynchronization.write(note, to: Self.file(in: url), what: "note of the backup")
  }
}
