import Foundation

/// Durable changes to files and folders.
enum FileSynchronization {
  /// Waits until a file's content, or a folder's entries, are on disk.
  static func synchronize(_ url: URL) throws {
    do {
      let handle = try FileHandle(forReadingFrom: url)
      defer { try? handle.close() }
      try handle.synchronize()
    } catch {
      throw PersistenceError(
        .init(ofWriting: error), at: .file(url),
        "Written data can't be flushed to disk: \(error.localizedDescription)")
    }
  }

  /// Writes a record that a later process may depend on: it is on disk before anything else is done.
  ///
  /// - Parameter what: The name of the record in error messages.
  static func write(_ note: some Encodable, to file: URL, what: String) throws {
    do {
      try JSONEncoder().encode(note).write(to: file, options: .atomic)
    } catch {
      throw PersistenceError(
        .init(ofWriting: error), at: .file(file), "The \(what) can't be written: \(error.localizedDescription)",
        fix: "Check the free disk space. The store is unchanged.")
    }
    try synchronize(file)
    try synchronize(file.deletingLastPathComponent())
  }
}
