import Foundation
import Synchronization

/// The files of large values that no row names: a process that ended in the middle of a save leaves them.
struct OrphanFiles {
  let folder: ExternalDataFolder

  /// The names of the files that no column of any table holds, whether the model knows the column or not.
  ///
  /// - Precondition: nobody else can be in the middle of a save: what it has written is named by no row yet. The caller
  ///   holds the write lock.
  func find(_ connection: SQLiteConnection) throws -> [String] {
    var names = Set(folder.names().filter(Self.isOfValue))
    guard !names.isEmpty else { return [] }
    for table in try StoreSchema(connection).tables {
      for column in table.columns where Self.mayName(column) {
        try connection.query(.fileNames(in: column.name, of: table.name)) { row in
          names.remove(String(decoding: row.data(0).prefix { $0 != 0 }, as: UTF8.self))
        }
      }
    }
    return names.sorted()
  }

  /// Deletes the files of these names. One that can't be deleted does no harm.
  ///
  /// - Returns: the names of those that are gone.
  func remove(_ names: [String]) -> [String] {
    let removed = names.filter { name in
      guard let file = try? folder.file(named: name) else { return false }
      return (try? FileManager.default.removeItem(at: file)) != nil
    }
    folder.removeIfEmpty()
    return removed
  }

  /// Whether a name is one that large values get, a UUID; anything else in the folder is somebody else's.
  private static func isOfValue(_ name: String) -> Bool { UUID(uuidString: name) != nil }

  private static func mayName(_ column: StoreSchema.Column) -> Bool {
    let type = column.declaredType.uppercased()
    return type.isEmpty || type.contains("BLOB")
  }
}

extension SQLiteStore {
  /// Whether a process that had a store open ended without closing it, or has it open still.
  static func mayHaveEndedUncleanly(_ url: URL) -> Bool {
    let store = SQLiteFileName.resolved(url)
    return ["-wal", "-journal"].contains { suffix in
      FileState(SQLiteFileName.companion(of: store, suffix)).map { $0.size > 0 } ?? false
    }
  }

  /// Makes the next save look for files that no row names.
  func noteUncleanEnd() { needsSweep.store(true, ordering: .releasing) }

  /// Deletes the files of large values that an unclean end left, after the first save since then.
  func sweepOrphanFiles() {
    guard needsSweep.exchange(false, ordering: .acquiringAndReleasing), let externalFolder else { return }
    let orphans = OrphanFiles(folder: externalFolder)
    // Others who are in the middle of a save make no difference here, only under the lock.
    guard let found = try? pool.readOnce({ try orphans.find($0) }), !found.isEmpty else { return }
    // The save is done: what can't be deleted now stays, and `check` finds it.
    _ = try? pool.write { _ = orphans.remove(try orphans.find($0)) }
  }
}
