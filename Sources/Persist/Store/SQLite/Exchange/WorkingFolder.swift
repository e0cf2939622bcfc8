import Foundation

/// The folder beside a store in which it is migrated; it goes when the work is done, and with it all that is in it.
///
/// One process at a time has it, by a lock that goes with the process. What a killed one left is found by the next that
/// migrates the store or opens it for writing: with an ``ExchangeRecord`` the exchange is finished or taken back.
final class WorkingFolder {
  let url: URL
  private let store: URL
  private let lock: FolderLock

  private init(_ url: URL, of store: URL, lock: FolderLock) {
    (self.url, self.store, self.lock) = (url, store, lock)
  }

  /// - Parameter wait: how long to wait for another process that migrates the store.
  /// - Throws: ``PersistenceError/Code/storeBusy`` where the wait runs out.
  convenience init(besideStoreAt store: URL, waitingAtMost wait: Duration = .zero) throws {
    let url = Self.place(besideStoreAt: store)
    self.init(url, of: store, lock: try FolderLock.make(url, besideStoreAt: store, waitingAtMost: wait))
    try settleExchange()
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
        "What an earlier migration left can't be taken away: \(error.localizedDescription)",
        fix: "Check the permissions of the store's folder.")
    }
  }

  /// Finishes or takes back what a killed migration left beside a store. One that goes on is left alone.
  static func settle(besideStoreAt store: URL) throws {
    let url = place(besideStoreAt: store)
    guard FileState(url) != nil, let lock = FolderLock.take(url) else { return }
    let folder = WorkingFolder(url, of: store, lock: lock)
    try folder.settleExchange()
    folder.delete()
  }

  /// The place of the store after a hop, in a folder of its own.
  func file(_ number: Int) throws -> URL {
    let folder = url.appendingPathComponent("\(number)", isDirectory: true)
    try FolderLock.makeFolder(folder, besideStoreAt: store)
    return folder.appendingPathComponent(store.lastPathComponent)
  }

  /// Ends the work: what of an exchange isn't done is taken back.
  func remove() {
    // Where this fails, the next to open the store finds the folder and tries again.
    guard (try? settleExchange()) != nil else { return }
    delete()
  }

  private func delete() { try? FileManager.default.removeItem(at: url) }

  private func settleExchange() throws {
    try ExchangeRecord(in: url)?.settle(store: store, in: url)
  }

  static func place(besideStoreAt store: URL) -> URL {
    store.deletingLastPathComponent()
      .appendingPathComponent(".\(store.lastPathComponent).migration", isDirectory: true)
  }
}
