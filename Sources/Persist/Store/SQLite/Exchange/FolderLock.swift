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

  /// Makes a folder beside a store where there is none, and acquires its lock.
  ///
  /// - Parameter wait: how long to wait for another process that has it.
  /// - Throws: ``PersistenceError/Code/storeBusy`` where the wait runs out.
  static func make(_ folder: URL, besideStoreAt store: URL, waitingAtMost wait: Duration) throws -> FolderLock {
    let deadline = ContinuousClock.now + wait
    var pause = 0.002
    // Whoever looks for what a killed process left has the lock for a moment, and takes an empty folder away.
    var attempts = 3
    while true {
      try makeFolder(folder, besideStoreAt: store)
      if let lock = take(folder) { return lock }
      attempts -= 1
      guard attempts > 0 || ContinuousClock.now < deadline else { break }
      Thread.sleep(forTimeInterval: pause)
      pause = min(pause * 2, 0.05)
    }
    throw PersistenceError(
      .storeBusy, at: .store(store), "Another process migrates the store.",
      fix: "Wait until it is done, or longer with the option busyTimeout, and open the store again.")
  }

  /// Makes a folder for copies of a store, with its permissions.
  static func makeFolder(_ folder: URL, besideStoreAt store: URL) throws {
    do {
      try StorePermissions.makeFolder(folder, like: StorePermissions(ofStoreAt: store))
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(folder), "The folder for the migration can't be made: \(error.localizedDescription)",
        fix: "Check the permissions of the store's folder, and the room on the disk.")
    }
  }
}
