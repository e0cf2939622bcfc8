package import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#elseif canImport(WinSDK)
  import WinSDK
#endif

/// Durable changes to files and folders.
package enum FileSynchronization {
  /// Waits until a file's content, or a folder's entries, are on disk.
  ///
  /// Windows flushes only files that are open for writing. It has no such call for folders, whose entries its file
  /// system logs itself.
  package static func synchronize(_ url: URL) throws {
    do {
      #if os(Windows)
        guard FileState(url)?.isFolder != true else { return }
        let handle = try FileHandle(forUpdating: url)
      #else
        let handle = try FileHandle(forReadingFrom: url)
      #endif
      defer { try? handle.close() }
      try handle.synchronize()
    } catch {
      throw PersistenceError(
        .init(ofWriting: error), at: .file(url),
        "Written data can't be flushed to disk: \(error.localizedDescription)")
    }
  }

  /// Moves a file in place of another one, if there is one, in one step: other processes find the one or the other.
  ///
  /// - Throws: An error of the file system.
  package static func move(_ file: URL, inPlaceOf place: URL) throws {
    #if os(Windows)
      let isMoved = file.path.withCString(encodedAs: UTF16.self) { file in
        place.path.withCString(encodedAs: UTF16.self) { place in
          MoveFileExW(file, place, DWORD(MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH))
        }
      }
      guard isMoved else { throw CocoaError(.fileWriteUnknown, userInfo: [NSFilePathErrorKey: place.path]) }
    #else
      guard rename(file.path, place.path) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    #endif
  }

  /// Writes a record that a later process may depend on: it is on disk before anything else is done.
  ///
  /// - Parameter what: The name of the record in error messages.
  static func write(_ record: some Encodable, to file: URL, what: String) throws {
    do {
      try JSONEncoder().encode(record).write(to: file, options: .atomic)
    } catch {
      throw PersistenceError(
        .init(ofWriting: error), at: .file(file), "The \(what) can't be written: \(error.localizedDescription)",
        fix: "Check the free disk space. The store is unchanged.")
    }
    try synchronize(file)
    try synchronize(file.deletingLastPathComponent())
  }
}
