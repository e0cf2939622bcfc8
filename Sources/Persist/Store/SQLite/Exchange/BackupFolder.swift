import Foundation

/// The hidden folder beside a store that records a backup in use, so that a killed process leaves neither an unwanted
/// copy nor a store that should have been restored.
final class BackupFolder {
  /// The record in the folder.
  private struct Record: Codable {
    /// The location of the copy.
    var copy: URL
    var isKept: Bool
    /// Whether the copy is about to replace the store.
    var isRestoring = false
  }

  private let url: URL
  private let store: URL
  private let lock: FolderLock
  private var record: Record

  var copy: URL { record.copy }

  private init(_ url: URL, of store: URL, lock: FolderLock, record: Record) {
    (self.url, self.store, self.lock, self.record) = (url, store, lock, record)
  }

  /// - Parameter wait: The maximum time to wait for another process that migrates the store.
  /// - Throws: ``PersistenceError/Code/storeBusy`` if the wait times out.
  convenience init(
    besideStoreAt store: URL, for backup: MigrationBackup, waitingAtMost wait: Duration = .zero
  ) throws {
    let url = Self.url(besideStoreAt: store)
    let lock = try FolderLock.make(url, besideStoreAt: store, waitingAtMost: wait)
    let record =
      switch backup {
      case .removedAfterward: Record(copy: url.appendingPathComponent(store.lastPathComponent), isKept: false)
      case .kept(let place): Record(copy: place, isKept: true)
      }
    self.init(url, of: store, lock: lock, record: record)
    // An existing copy with this name isn't this process's, and must not be mistaken for it.
    guard FileState(record.copy) == nil else {
      remove(keepingCopy: true)
      throw PersistenceError(
        .fileAccess, at: .file(record.copy), "A file of this name already exists.",
        fix: "Choose another name for the backup.")
    }
    try write()
  }

  /// The end of the folder's name, after a period and the name of the store.
  static let suffix = ".backup"

  static func url(besideStoreAt store: URL) -> URL {
    URL(fileURLWithPath: SQLiteFileName.hiddenPath(beside: store.path, suffix), isDirectory: true)
  }

  // MARK: Restoring

  /// Whether the store is damaged: a store that is only in use by others isn't.
  var isStoreDamaged: Bool { (try? canReadStore(toItsEnd: true)) == false }

  /// - Parameter toItsEnd: Whether to read the whole file rather than only its identification.
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

  /// Replaces the store with the copy.
  func restore() throws {
    record.isRestoring = true
    try write()
    do {
      try StoreBackup.replace(storeAt: store, withStoreAt: copy)
    } catch let error where Self.saysDamaged(error) {
      // The file is no longer a database.
      for file in [store] + SQLiteFileName.companions(of: store) where FileState(file) != nil {
        try FileManager.default.removeItem(at: file)
      }
      try StoreBackup.copy(storeAt: copy, to: store)
    }
    record.isRestoring = false
    try write()
  }

  // MARK: Removing

  /// Deletes the folder, and the copy unless it is kept.
  func remove(keepingCopy: Bool) {
    UnfinishedCopy.removeLeftovers(of: copy)
    if !keepingCopy { try? StoreFiles(storeAt: copy).delete() }
    try? FileManager.default.removeItem(at: url)
  }

  // MARK: Recovery

  /// Cleans up after a killed migration: a store that can't be read is restored from its copy.
  static func cleanUp(besideStoreAt store: URL) throws {
    let url = url(besideStoreAt: store)
    guard FileState(url) != nil, let lock = FolderLock.acquire(url) else { return }
    guard let content = FileManager.default.contents(atPath: file(in: url).path),
      let record = try? JSONDecoder().decode(Record.self, from: content)
    else {
      // The process was killed before it wrote the record, so nothing had begun.
      try? FileManager.default.removeItem(at: url)
      return
    }
    try BackupFolder(url, of: store, lock: lock, record: record).restoreIfDamaged()
  }

  private func restoreIfDamaged() throws {
    if FileState(copy) != nil, try record.isRestoring || !canReadStore(toItsEnd: false) { try restore() }
    // A copy to be kept remains if it was completed and the migration took effect.
    let isWanted = record.isKept && FileState(copy) != nil && fingerprints(of: store) != fingerprints(of: copy)
    remove(keepingCopy: isWanted)
  }

  private func fingerprints(of file: URL) -> [String: Fingerprint]? {
    try? SQLiteConnection.reading(file) { try StoreCatalog($0).record?.fingerprints }
  }

  private static func file(in folder: URL) -> URL { folder.appendingPathComponent("backup.json") }

  private func write() throws {
    try FileSynchronization.write(record, to: Self.file(in: url), what: "record of the backup")
  }
}
