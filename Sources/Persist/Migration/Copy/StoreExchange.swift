import Foundation

/// Puts a file that was made beside a store into the store's place, with everything that belongs to it.
///
/// Large values come first: files that no row names yet do no harm. Then one renaming decides. What nobody names any
/// more goes last. Killed in between, the store is the old one or the new one, whole.
struct StoreExchange {
  /// The store that is to be replaced.
  let store: URL
  /// The new one: a single file without a log, which nobody has open.
  let replacement: URL
  /// The new store's model.
  let model: ManagedObjectModel

  /// - Parameter hold: of the store that goes.
  func perform(_ hold: StoreHold) throws {
    try synchronize(replacement)
    let named = try largeValueNames()
    try moveLargeValues()
    try hold.alone {
      try takePermissions()
      try rename()
    }
    hold.end()
    try? synchronize(store.deletingLastPathComponent())
    discardLargeValues(except: named)
  }

  private func rename() throws {
    let code = store.withUnsafeFileSystemRepresentation { target in
      replacement.withUnsafeFileSystemRepresentation { source -> Int32 in
        guard let source, let target else { return -1 }
        return Foundation.rename(source, target)
      }
    }
    guard code == 0 else {
      throw PersistError(
        .fileAccess, at: .store(store), "The migrated store can't take the old one's place: error \(errno).",
        fix: "Check the permissions of the store's folder; the store is as it was.")
    }
  }

  private func takePermissions() throws {
    let files = FileManager.default
    guard let mode = try? files.attributesOfItem(atPath: store.path)[.posixPermissions] else { return }
    try? files.setAttributes([.posixPermissions: mode], ofItemAtPath: replacement.path)
  }

  /// Waits until a file's content, or a folder's names, are on the disk.
  private func synchronize(_ url: URL) throws {
    do {
      let handle = try FileHandle(forReadingFrom: url)
      defer { try? handle.close() }
      try handle.synchronize()
    } catch {
      throw PersistError(
        .fileAccess, at: .file(url), "What was written can't be made to last: \(error.localizedDescription)")
    }
  }

  // MARK: Large values

  private func largeValueNames() throws -> Set<String> {
    let connection = try SQLiteConnection(replacement, mode: .readOnly)
    defer { connection.close() }
    var names: Set<String> = []
    let map = TableMap.forNewStore(model)
    for table in map.tables {
      for column in table.columns {
        guard case .attribute(let attribute) = column.role, attribute.allowsExternalStorage,
          table.entity.property(named: column.property)?.declaringEntity == table.entity.name
        else { continue }
        try connection.query(.fileNames(in: table.table, column: column.name, .all)) { row in
          names.insert(String(decoding: row.data(0).dropFirst().prefix { $0 != 0 }, as: UTF8.self))
        }
      }
    }
    return names
  }

  private func moveLargeValues() throws {
    let (new, old) = (ExternalDataFolder(storeAt: replacement), ExternalDataFolder(storeAt: store))
    let files = FileManager.default
    do {
      for name in new.names() {
        guard try old.file(named: name) == nil, let file = try new.file(named: name) else { continue }
        try files.createDirectory(at: old.url, withIntermediateDirectories: true)
        try files.moveItem(at: file, to: old.url.appendingPathComponent(name))
      }
      if files.fileExists(atPath: old.url.path) { try synchronize(old.url) }
    } catch let error as PersistError {
      throw error
    } catch {
      throw PersistError(
        .fileAccess, at: .file(old.url), "The large values can't be taken over: \(error.localizedDescription)",
        fix: "Check the room on the disk and the permissions of the store's folder.")
    }
  }

  private func discardLargeValues(except named: Set<String>) {
    let folder = ExternalDataFolder(storeAt: store)
    for name in folder.names() where !named.contains(name) {
      if let file = try? folder.file(named: name) { try? FileManager.default.removeItem(at: file) }
    }
  }
}
