import Foundation

/// The folder beside a store in which it is migrated, deleted with its contents when the migration ends.
///
/// One process at a time owns it, by a lock that ends with the process. After a process was killed, the next one that
/// migrates the store or opens it for writing finds the folder: if it contains an ``ExchangeRecord``, the exchange is
/// completed or undone.
final class WorkingFolder {
  let url: URL
  let store: URL
  private let lock: FolderLock

  private init(_ url: URL, of store: URL, lock: FolderLock) {
    (self.url, self.store, self.lock) = (url, store, lock)
  }

  /// - Parameter wait: The maximum time to wait for another process that migrates the store.
  /// - Throws: ``PersistenceError/Code/storeBusy`` if the wait times out.
  convenience init(besideStoreAt store: URL, waitingAtMost wait: Duration = .zero) throws {
    let url = Self.url(besideStoreAt: store)
    self.init(url, of: store, lock: try FolderLock.make(url, besideStoreAt: store, waitingAtMost: wait))
    try completeExchange()
    try clear()
  }

  private func clear() throws {
    do {
      for name in try FileManager.default.contentsOfDirectory(atPath: url.path) {
        try FileManager.default.removeItem(at: url.appendingPathComponent(name))
      }
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(url),
        "Leftover files of an earlier migration can't be deleted: \(error.localizedDescription)",
        fix: "Check the permissions of the store's folder.")
    }
  }

  /// Completes or undoes a killed migration's changes beside a store. A running migration isn't affected.
  static func cleanUp(besideStoreAt store: URL) throws {
    let url = url(besideStoreAt: store)
    guard FileState(url) != nil, let lock = FolderLock.acquire(url) else { return }
    let folder = WorkingFolder(url, of: store, lock: lock)
    try folder.completeExchange()
    folder.delete()
  }

  /// The location of the store after a step, in a separate folder.
  func file(_ number: Int) throws -> URL {
    let folder = url.appendingPathComponent("\(number)", isDirectory: true)
    try FolderLock.makeFolder(folder, besideStoreAt: store)
    return folder.appendingPathComponent(store.lastPathComponent)
  }

  /// Ends the migration: an incomplete exchange is undone.
  func remove() {
    // If this fails, the next process that opens the store finds the folder and tries again.
    guard (try? completeExchange()) != nil else { return }
    delete()
  }

  private func delete() { try? FileManager.default.removeItem(at: url) }

  private func completeExchange() throws {
    try ExchangeRecord(in: url)?.complete(store: store, in: url)
  }

  /// The end of the folder's name, after a period and the name of the store.
  static let suffix = ".migration"

  static func url(besideStoreAt store: URL) -> URL {
    URL(fileURLWithPath: SQLiteFileName.hiddenPath(beside: store.path, suffix), isDirectory: true)
  }
}
