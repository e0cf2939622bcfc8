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

/// The permissions of a store's file, which apply to everything that belongs to it: users without read access to a
/// store can't read its large values or its copies either.
///
/// SQLite itself does the same for the log, its index and the journal.
package struct StorePermissions: Sendable, Equatable {
  private let file: Int

  /// - Returns: Nil if there is no such file, or the system has no such permissions.
  init?(ofStoreAt store: URL) {
    #if os(Windows)
      return nil
    #else
      guard let mode = FileState.permissions(path: SQLiteFileName.resolved(store).path) else { return nil }
      file = mode & 0o666
    #endif
  }

  /// Users with read access to the store may list the folder; its owner may always use it.
  private var folder: Int { file | (file & 0o444) >> 2 | 0o700 }

  /// Applies the store's permissions to a file. If the system refuses, the file keeps its own.
  func apply(to url: URL) {
    try? FileManager.default.setAttributes([.posixPermissions: file], ofItemAtPath: url.path)
  }

  /// Creates an empty file with the permissions from the start.
  ///
  /// - Throws: An error of the file system if the file already exists.
  static func makeFile(_ url: URL, like permissions: StorePermissions?) throws {
    #if os(Windows)
      try Data().write(to: url, options: .withoutOverwriting)
    #else
      // Private until the permissions are set, regardless of the process's mask.
      let descriptor = url.withUnsafeFileSystemRepresentation { path in
        path.map { open($0, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, permissions == nil ? 0o666 : 0o600) } ?? -1
      }
      guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      close(descriptor)
      permissions?.apply(to: url)
    #endif
  }

  /// Creates a folder and its missing parents, with the permissions; does nothing if it exists.
  static func makeFolder(_ url: URL, like permissions: StorePermissions?) throws {
    guard FileState(url)?.isFolder != true else { return }
    let parent = url.deletingLastPathComponent()
    if FileState(parent) == nil { try makeFolder(parent, like: permissions) }
    let attributes: [FileAttributeKey: Any]? = permissions.map { [.posixPermissions: $0.folder] }
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false, attributes: attributes)
    } catch {
      // Another process may have created it in the meantime.
      guard FileState(url)?.isFolder == true else { throw error }
    }
  }
}
