import Foundation

/// The files that killed processes leave beside a store: folders of migrations and of their backups, and unfinished
/// copies.
///
/// A process that is still running has the same files.
struct UnfinishedFiles {
  let store: URL

  /// The existing folders of a migration and of its backup.
  var folders: [URL] {
    [WorkingFolder.place(besideStoreAt: store), BackupFolder.place(besideStoreAt: store)]
      .filter { FileState($0) != nil }
  }

  /// The incomplete copies in the store's folder, without their companion files.
  var copies: [URL] {
    let folder = store.deletingLastPathComponent()
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().filter { name in
      guard let suffix = name.range(of: StoreBackup.partialSuffix, options: .backwards) else { return false }
      return UUID(uuidString: String(name[suffix.upperBound...])) != nil
    }.map { folder.appendingPathComponent($0, isDirectory: false) }
  }

  func problems() -> [StoreProblem] {
    folders.map { folder in
      StoreProblem(
        kind: .unfinishedWork,
        detail: "The folder '\(folder.lastPathComponent)' is of a migration that was killed, or still runs.")
    }
      + copies.map { copy in
        StoreProblem(
          kind: .unfinishedWork,
          detail: "The file '\(copy.lastPathComponent)' is a copy that was never completed, or is being made.")
      }
  }

  /// Deletes the copies that no process is writing.
  ///
  /// - Returns: The number of deleted copies.
  func removeCopies() -> Int {
    copies.count { copy in
      guard !Self.isInUse(copy) else { return false }
      for companion in SQLiteFileName.companions(of: copy) { try? FileManager.default.removeItem(at: companion) }
      return (try? FileManager.default.removeItem(at: copy)) != nil
    }
  }

  /// SQLite's backup holds a lock on the file that it writes.
  private static func isInUse(_ copy: URL) -> Bool {
    do {
      let connection = try SQLiteConnection(copy, mode: .readWrite, options: StoreOptions(busyTimeout: .zero))
      defer { connection.close() }
      try connection.execute(.beginExclusive)
      try connection.execute(.rollback)
      return false
    } catch let error as PersistenceError {
      return error.code == .storeBusy
    } catch {
      return true
    }
  }
}
