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

/// Keeps a folder to one process for as long as the object lives. The system lets it go with the process, killed or
/// not.
final class FolderLock {
  #if os(Windows)
    /// A folder can't be locked there; the lock on the store itself keeps two migrations apart.
    private init() {}

    static func take(_ folder: URL) -> FolderLock? { FolderLock() }
  #else
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Nil where another has it, or there is no such folder any more.
    static func take(_ folder: URL) -> FolderLock? {
      let descriptor = folder.withUnsafeFileSystemRepresentation { path in
        path.map { open($0, O_RDONLY | O_CLOEXEC) } ?? -1
      }
      guard descriptor >= 0 else { return nil }
      let lock = FolderLock(descriptor)
      var (held, named) = (stat(), stat())
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &held) == 0 else { return nil }
      // Who had it before may have taken it away, and another may have made it anew.
      let isThere = folder.withUnsafeFileSystemRepresentation { $0.map { stat($0, &named) } } == 0
      return isThere && held.st_ino == named.st_ino ? lock : nil
    }
  #endif

  /// Makes a folder beside a store where there is none, and takes it.
  ///
  /// - Throws: ``PersistError/Code/storeBusy`` where another process has it.
  static func make(_ folder: URL, besideStoreAt store: URL) throws -> FolderLock {
    // A folder that another process is about to take away can be had at the second attempt.
    for _ in 0..<3 {
      try makeFolder(folder)
      if let lock = take(folder) { return lock }
    }
    throw PersistError(
      .storeBusy, at: .store(store), "Another process migrates the store.",
      fix: "Wait until it is done, and open the store again.")
  }

  static func makeFolder(_ folder: URL) throws {
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    } catch {
      if FileState(folder)?.isFolder == true { return }
      throw PersistError(
        .fileAccess, at: .file(folder), "The folder for the migration can't be made: \(error.localizedDescription)",
        fix: "Check the permissions of the store's folder, and the room on the disk.")
    }
  }
}
