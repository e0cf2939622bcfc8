package import Foundation

/// Copies of stores that are stores themselves.
package enum StoreBackup {
  /// Copies a store as it is at one moment: what its log holds included, and its files of large values.
  ///
  /// The store isn't changed. The copy comes up under its name when it is whole.
  ///
  /// - Throws: ``PersistError/Code/fileAccess`` where there is a file already, or one can't be written.
  package static func copy(storeAt url: URL, to copy: URL) throws {
    let files = FileManager.default
    guard !files.fileExists(atPath: copy.path) else {
      throw PersistError(
        .fileAccess, at: .file(copy), "There is a file of this name already.", fix: "Choose another name for the copy.")
    }
    let partial = copy.appendingPathExtension("partial-\(UUID().uuidString)")
    do {
      let connection = try SQLiteConnection(url, mode: .readOnly)
      defer { connection.close() }
      try connection.copyDatabase(to: partial)
      try copyLargeValues(from: ExternalDataFolder(storeAt: url), to: ExternalDataFolder(storeAt: copy))
      try files.moveItem(at: partial, to: copy)
    } catch {
      try? files.removeItem(at: partial)
      throw error as? PersistError
        ?? PersistError(.fileAccess, at: .file(copy), "The copy can't be made: \(error.localizedDescription)")
    }
  }

  private static func copyLargeValues(from source: ExternalDataFolder, to target: ExternalDataFolder) throws {
    let names = source.names()
    guard !names.isEmpty else { return }
    try FileManager.default.createDirectory(at: target.url, withIntermediateDirectories: true)
    for name in names {
      guard let file = try? source.file(named: name) else { continue }
      try FileManager.default.copyItem(at: file, to: target.url.appendingPathComponent(name))
    }
  }
}
