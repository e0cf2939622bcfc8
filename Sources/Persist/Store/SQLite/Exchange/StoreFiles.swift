import Foundation

/// The files of a store: the database and its companions.
struct StoreFiles {
  let database: URL
  /// The write-ahead log, its index, the rollback journal, the folders of large values, and leftovers of a killed
  /// migration, whether they exist or not.
  let companions: [URL]

  init(storeAt url: URL) {
    database = url
    let folder = url.deletingLastPathComponent()
    let files = ["-wal", "-shm", "-journal"].map { folder.appendingPathComponent(url.lastPathComponent + $0) }
    companions =
      files + ExternalDataFolder(storeAt: url).supportFolders
      + [WorkingFolder.url(besideStoreAt: url), BackupFolder.url(besideStoreAt: url)]
  }

  /// Deletes all files, the database first: companions without a database aren't a store, but a database without its
  /// log would be a store with missing rows.
  func delete() throws {
    if exists(database) {
      guard try isDatabase() else {
        throw PersistenceError(
          .notAStore, at: .store(database), "The file isn't an SQLite database, so it isn't deleted as a store.",
          fix: "Check the path.")
      }
      try delete(database)
    }
    for url in companions where exists(url) { try delete(url) }
  }

  private func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

  private func delete(_ url: URL) throws {
    do {
      try FileManager.default.removeItem(at: url)
    } catch {
      throw PersistenceError(.fileAccess, at: .file(url), "The file can't be deleted: \(error.localizedDescription)")
    }
  }

  /// Whether the file is empty or starts with SQLite's file header.
  private func isDatabase() throws -> Bool {
    guard let head = DatabaseHeader.read(database) else {
      throw PersistenceError(
        .fileAccess, at: .file(database), "The file can't be read.", fix: "Check the file's permissions.")
    }
    return head.isEmpty || DatabaseHeader.isDatabase(head)
  }
}
