import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// Changes of files and folders that must last.
enum FileSynchronization {
  /// Waits until a file's content, or a folder's names, are on the disk.
  static func synchronize(_ url: URL) throws {
    do {
      let handle = try FileHandle(forReadingFrom: url)
      defer { try? handle.close() }
      try handle.synchronize()
    } catch {
      throw PersistError(
        .fileAccess, at: .file(url), "What was written can't be made to last: \(error.localizedDescription)")
    }
  }

  /// Writes a note that a later process may have to go by: it is on the disk before anything else is done.
  ///
  /// - Parameter what: what the note is, for an error.
  static func write(_ note: some Encodable, to file: URL, what: String) throws {
    do {
      try JSONEncoder().encode(note).write(to: file, options: .atomic)
    } catch {
      throw PersistError(
        .fileAccess, at: .file(file), "The \(what) can't be written: \(error.localizedDescription)",
        fix: "Check the room on the disk; the store is as it was.")
    }
    try synchronize(file)
    try synchronize(file.deletingLastPathComponent())
  }

  /// Gives a file another's name, in one step where the file system has one.
  static func rename(_ file: URL, to place: URL) throws {
    let code = place.withUnsafeFileSystemRepresentation { target in
      file.withUnsafeFileSystemRepresentation { source -> Int32 in
        guard let source, let target else { return -1 }
        return Foundation.rename(source, target)
      }
    }
    guard code == 0 else {
      throw PersistError(
        .fileAccess, at: .store(place), "The migrated store can't take the old one's place: error \(errno).",
        fix: "Check the permissions of the store's folder; the store is as it was.")
    }
  }

  /// Makes a file that lost its name unusable for one who opened it in the moment before, and waits for a lock: what
  /// they would read is old, and what they would write would be lost.
  ///
  /// A file that has another name is left alone: somebody keeps it.
  static func spoil(_ old: FileHandle) {
    #if !os(Windows)
      var facts = stat()
      guard fstat(old.fileDescriptor, &facts) == 0, facts.st_nlink == 0 else { return }
      try? old.write(contentsOf: Data(count: 100))
    #endif
  }
}
