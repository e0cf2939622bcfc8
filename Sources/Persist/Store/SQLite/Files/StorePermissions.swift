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

/// The permissions of a store's file, which everything that belongs to it gets too: whoever may not read a store may
/// read neither its large values nor its copies.
///
/// SQLite itself does so for the log, its index and the journal.
struct StorePermissions: Sendable, Hashable {
  private let file: Int

  /// - Returns: nil where there is no such file, or the system has no such permissions.
  init?(ofStoreAt store: URL) {
    #if os(Windows)
      return nil
    #else
      let facts = try? FileManager.default.attributesOfItem(atPath: SQLiteFileName.resolved(store).path)
      guard let mode = (facts?[.posixPermissions] as? NSNumber)?.intValue else { return nil }
      file = mode & 0o666
    #endif
  }

  /// A folder may be looked into by those who may read the store; its owner may always use it.
  private var folder: Int { file | (file & 0o444) >> 2 | 0o700 }

  /// Gives a file the store's permissions. Where the system refuses, it keeps its own.
  func apply(to url: URL) {
    try? FileManager.default.setAttributes([.posixPermissions: file], ofItemAtPath: url.path)
  }

  /// Makes an empty file that has the permissions from the beginning.
  ///
  /// - Throws: an error of the file system where there is a file already.
  static func makeFile(_ url: URL, like permissions: StorePermissions?) throws {
    #if os(Windows)
      try Data().write(to: url, options: .withoutOverwriting)
    #else
      // Nobody else's until the permissions are set, whatever the process's mask lets through.
      let descriptor = url.withUnsafeFileSystemRepresentation { path in
        path.map { open($0, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, permissions == nil ? 0o666 : 0o600) } ?? -1
      }
      guard descriptor >= 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
      close(descriptor)
      permissions?.apply(to: url)
    #endif
  }

  /// Makes a folder where there is none, with those above it; what is made gets the permissions.
  static func makeFolder(_ url: URL, like permissions: StorePermissions?) throws {
    guard FileState(url)?.isFolder != true else { return }
    let parent = url.deletingLastPathComponent()
    if FileState(parent) == nil { try makeFolder(parent, like: permissions) }
    let attributes: [FileAttributeKey: Any]? = permissions.map { [.posixPermissions: $0.folder] }
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false, attributes: attributes)
    } catch {
      // Another may have been faster.
      guard FileState(url)?.isFolder == true else { throw error }
    }
  }
}
