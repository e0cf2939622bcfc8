import Foundation
import Synchronization

/// The files of large values that no row names, left by a process that ended during a save.
package struct OrphanFiles {
  private let folder: ExternalDataFolder

  /// - Parameter folder: The store's folder. Files beside a symbolic link to the store aren't searched, since they may
  ///   be those of another store.
  package init(folder: ExternalDataFolder) { self.folder = ExternalDataFolder(storeAt: folder.store) }

  /// The names of the files that no column of any table contains, including columns unknown to the model; none while
  /// the store is being migrated, since the files of its new content may be in place already.
  ///
  /// - Precondition: No other save may be in progress, since no row names its files yet. The caller holds the write
  ///   lock.
  package func find(_ connection: SQLiteConnection) throws -> [String] {
    guard FileState(WorkingFolder.url(besideStoreAt: folder.store)) == nil else { return [] }
    let names = Set(folder.names().filter(Self.isOfValue))
    return names.isEmpty ? [] : names.subtracting(try connection.largeValueNames()).sorted()
  }

  /// Deletes the files with these names, except those that other databases name. A file that can't be deleted does no
  /// harm.
  ///
  /// - Returns: The names of the deleted files.
  package func remove(_ names: [String]) -> [String] {
    guard !names.isEmpty else { return [] }
    let removed = LargeValueSharers.withNames(besides: folder) { others in
      names.filter { name in
        guard !others.contains(name), let file = try? folder.file(named: name) else { return false }
        return (try? FileManager.default.removeItem(at: file)) != nil
      }
    }
    folder.removeIfEmpty()
    return removed ?? []
  }

  /// Whether a name has the form of large values' names, a UUID; all other files in the folder are foreign.
  private static func isOfValue(_ name: String) -> Bool { UUID(uuidString: name) != nil }
}

extension SQLiteStore {
  /// Whether a process that had a store open ended without closing it, or still has it open.
  ///
  /// - Parameter path: The path of the store with symbolic links resolved.
  static func mayHaveEndedUncleanly(_ path: String) -> Bool {
    func hasContent(_ path: String) -> Bool { FileState(path: path).map { $0.size > 0 } ?? false }
    return hasContent(path + "-wal") || hasContent(path + "-journal")
  }

  /// Makes the next save look for files that no row names, and for unfinished copies.
  func recordUncleanEnd() { needsSweep.store(true, ordering: .releasing) }

  /// Deletes the files left by a crash, after the first save since then during which no context reads an earlier state.
  func sweepOrphanFiles() {
    guard needsSweep.load(ordering: .acquiring), !pool.heldStates.isHolding,
      needsSweep.exchange(false, ordering: .acquiringAndReleasing), let externalFolder
    else { return }
    if let url { UnfinishedFiles(store: SQLiteFileName.resolved(url)).removeCopies() }
    let orphans = OrphanFiles(folder: externalFolder)
    // Concurrent saves don't matter for this first look, only for the one under the lock.
    guard let found = try? pool.readOnce({ try orphans.find($0) }), !found.isEmpty else { return }
    // The save is complete: a file that can't be deleted now remains, and `check` finds it.
    _ = try? pool.write { _ = orphans.remove(try orphans.find($0)) }
  }
}
