import Foundation

/// The files of a store: the database and its companions.
struct StoreFiles {
  private let database: URL
  /// The symbolic link by which the store is named, if it is.
  private let link: URL?
  private let values: ExternalDataFolder

  init(storeAt url: URL) {
    database = SQLiteFileName.resolved(url)
    link = FileState.isLink(url) ? url : nil
    values = ExternalDataFolder(storeAt: url)
  }

  /// The write-ahead log, its index, the rollback journal, the folders of large values that belong to this store alone,
  /// and leftovers of a killed migration, whether they exist or not.
  private var companions: [URL] {
    SQLiteFileName.companions(of: database) + values.ownSupportFolders
      + [
        WorkingFolder.url(besideStoreAt: database), BackupFolder.url(besideStoreAt: database),
        GivingWayMark.url(besideStoreAt: database),
      ]
  }

  /// Deletes all files, the database first: companions without a database aren't a store, but a database without its
  /// log would be a store with missing rows.
  ///
  /// A large value in a folder that other databases share is only deleted if none of them names it.
  func delete() throws {
    guard try !exists(database) || isDatabase() else {
      throw PersistenceError(
        .notAStore, at: .store(database), "The file isn't an SQLite database, so it isn't deleted as a store.",
        fix: "Check the path.")
    }
    // Leftover copies of this store would count as other stores that share its large values.
    UnfinishedCopy.removeLeftovers(of: database)
    let companions = companions
    let shared = values.sharers.isEmpty ? [] : namesOfValues()
    if exists(database) { try delete(database) }
    for url in companions + [link].compactMap({ $0 }) where exists(url) || FileState.isLink(url) { try delete(url) }
    guard !shared.isEmpty else { return }
    _ = LargeValueSharers.withNames(besides: values) { others in
      for name in shared.subtracting(others) {
        if let file = try? values.file(named: name) { try? FileManager.default.removeItem(at: file) }
      }
    }
  }

  /// The names of the store's large values; empty if it can't be read.
  private func namesOfValues() -> Set<String> {
    guard exists(database) else { return [] }
    return (try? SQLiteConnection.reading(database) { try $0.largeValueNames() }) ?? []
  }

  private func exists(_ url: URL) -> Bool { FileManager.default.fileExists(atPath: url.path) }

  private func delete(_ url: URL) throws {
    do {
      try FileManager.default.removeItem(at: url)
    } catch {
      throw PersistenceError(.fileAccess, at: .file(url), "The file can't be deleted: \(error.localizedDescription)")
    }
  }

  /// Whether the file is empty, starts with SQLite's file header, or may be encrypted.
  private func isDatabase() throws -> Bool {
    guard let head = DatabaseHeader.read(database) else {
      throw PersistenceError(
        .fileAccess, at: .file(database), "The file can't be read.", fix: "Check the file's permissions.")
    }
    return head.isEmpty || DatabaseHeader.mayBeDatabase(database)
  }
}
