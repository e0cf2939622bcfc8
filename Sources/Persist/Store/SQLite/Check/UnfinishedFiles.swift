package import Foundation

/// The files that killed processes leave beside a store: folders of migrations and of their backups, and unfinished
/// copies.
///
/// A process that is still running has the same files.
package struct UnfinishedFiles {
  package let store: URL

  package init(store: URL) { self.store = store }

  /// The existing folders of a migration and of its backup.
  package var folders: [URL] {
    [WorkingFolder.url(besideStoreAt: store), BackupFolder.url(besideStoreAt: store)]
      .filter { FileState($0) != nil }
  }

  /// The incomplete copies in the store's folder.
  var copies: [URL] { UnfinishedCopy.all(in: store.deletingLastPathComponent()) }

  package func problems() -> [StoreProblem] {
    folders.map { folder in
      StoreProblem(
        kind: .unfinishedWork,
        detail: "The folder '\(folder.lastPathComponent)' belongs to a migration that was killed or is still running.")
    }
      + copies.map { copy in
        StoreProblem(
          kind: .unfinishedWork,
          detail: "The copy '\(copy.lastPathComponent)' was never completed, or is still being created.")
      }
  }

  /// Deletes the copies that no process is making.
  ///
  /// - Returns: The number of deleted copies.
  @discardableResult
  package func removeCopies() -> Int { copies.count { UnfinishedCopy.remove($0) } }
}
