import Foundation

/// Migrates a store after making a backup.
struct BackedUpMigration {
  let store: URL
  let backup: MigrationBackup
  var busyTimeout = Duration.zero

  /// Makes the backup and calls `body`. If that fails and leaves the store damaged, the store is restored.
  func run<Result>(_ body: () throws -> Result) throws -> Result {
    let folder = try BackupFolder(besideStoreAt: store, for: backup, waitingAtMost: busyTimeout)
    do {
      try copy(to: folder.copy)
      let result = try body()
      folder.remove(keepingCopy: backup != .removedAfterward)
      return result
    } catch {
      if FileState(folder.copy) != nil, folder.isStoreDamaged {
        do {
          try folder.restore()
        } catch let failure {
          throw PersistenceError(
            .migrationFailed, at: .store(store),
            "The migration failed, and the store can't be restored from its backup.",
            fix: "The backup is '\(folder.copy.path)'.",
            errors: [error, failure].compactMap { $0 as? PersistenceError })
        }
      }
      // Nothing remains of this attempt; another one makes a new backup.
      folder.remove(keepingCopy: false)
      throw error
    }
  }

  private func copy(to place: URL) throws {
    do {
      try FileManager.default.createDirectory(
        at: place.deletingLastPathComponent(), withIntermediateDirectories: true)
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(place), "The folder for the backup can't be created: \(error.localizedDescription)",
        fix: "Choose another folder, or check its permissions.")
    }
    try StoreBackup.copy(storeAt: store, to: place)
  }
}
