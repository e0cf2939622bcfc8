import Foundation

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

/// An exclusive lock on a folder, held by one process for the lifetime of the object. The system releases it when the
/// process ends, even if it is killed.
final class FolderLock {
  /// The result of trying to acquire a lock.
  enum Outcome {
    case held(FolderLock)
    /// Another process holds the lock, or the folder no longer exists.
    case refused
    /// The system can't lock the folder, for the given reason.
    case unsupported(String)
  }

  #if os(Windows)
    private let file: HANDLE

    private init(_ file: HANDLE) { self.file = file }

    deinit { CloseHandle(file) }

    /// Folders can't be locked on Windows, nor deleted while a file in them is open. So the lock is a file beside the
    /// folder that is open for one handle only, and that the system deletes when the handle is closed.
    ///
    /// - SeeAlso: <https://learn.microsoft.com/en-us/windows/win32/api/fileapi/nf-fileapi-createfilew>
    static func attempt(_ folder: URL) -> Outcome {
      let (file, code) = "\(folder.path)-lock".withCString(encodedAs: UTF16.self) { path in
        let file = CreateFileW(
          path, DWORD(GENERIC_READ), 0, nil, DWORD(OPEN_ALWAYS), DWORD(FILE_FLAG_DELETE_ON_CLOSE), nil)
        return (file, GetLastError())
      }
      guard let file, file != INVALID_HANDLE_VALUE else {
        // Access is denied to a file that is being deleted; without the folder above, there is no folder either.
        let refusals = [ERROR_SHARING_VIOLATION, ERROR_ACCESS_DENIED, ERROR_PATH_NOT_FOUND].map { DWORD($0) }
        return refusals.contains(code) ? .refused : .unsupported("Windows reports the error \(code).")
      }
      let lock = FolderLock(file)
      // The previous holder may have deleted the folder.
      return FileState(folder)?.isFolder == true ? .held(lock) : .refused
    }
  #else
    private let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    static func attempt(_ folder: URL) -> Outcome {
      let descriptor = folder.withUnsafeFileSystemRepresentation { path in
        path.map { open($0, O_RDONLY | O_CLOEXEC) } ?? -1
      }
      guard descriptor >= 0 else { return errno == ENOENT ? .refused : .unsupported(String(cString: strerror(errno))) }
      let lock = FolderLock(descriptor)
      var (held, named) = (stat(), stat())
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
        return errno == EWOULDBLOCK ? .refused : .unsupported(String(cString: strerror(errno)))
      }
      // The previous holder may have deleted the folder, and another process may have recreated it.
      let isThere = folder.withUnsafeFileSystemRepresentation { $0.map { stat($0, &named) } } == 0
      return isThere && fstat(descriptor, &held) == 0 && held.st_ino == named.st_ino ? .held(lock) : .refused
    }
  #endif

  /// Nil if another process holds the lock, or the folder no longer exists.
  static func acquire(_ folder: URL) -> FolderLock? {
    guard case .held(let lock) = attempt(folder) else { return nil }
    return lock
  }

  /// Creates a folder beside a store if it doesn't exist, and acquires its lock.
  ///
  /// - Parameter wait: The maximum time to wait for another process that holds it.
  /// - Throws: ``PersistenceError/Code/storeBusy`` if the wait times out, ``PersistenceError/Code/fileAccess`` if the
  ///   folder can't be created or locked.
  static func make(_ folder: URL, besideStoreAt store: URL, waitingAtMost wait: Duration) throws -> FolderLock {
    let deadline = ContinuousClock.now + wait
    var pause = 0.002
    // A process that cleans up after a killed one briefly holds the lock, and deletes an empty folder.
    var attempts = 3
    while true {
      try makeFolder(folder, besideStoreAt: store)
      switch attempt(folder) {
      case .held(let lock): return lock
      case .unsupported(let reason):
        throw PersistenceError(
          .fileAccess, at: .file(folder), "The folder for the migration can't be locked: \(reason)",
          fix: "Migrate the store on a local disk.")
      case .refused: break
      }
      attempts -= 1
      guard attempts > 0 || ContinuousClock.now < deadline else { break }
      Thread.sleep(forTimeInterval: pause)
      pause = min(pause * 2, 0.05)
    }
    throw PersistenceError(
      .storeBusy, at: .store(store), "Another process is migrating the store.",
      fix: "Open the store again when it has finished, or set a longer busyTimeout.")
  }

  /// Creates a folder for copies of a store, with the store's permissions.
  static func makeFolder(_ folder: URL, besideStoreAt store: URL) throws {
    do {
      try StorePermissions.makeFolder(folder, like: StorePermissions(ofStoreAt: store))
    } catch {
      throw PersistenceError(
        .fileAccess, at: .file(folder), "The folder for the migration can't be created: \(error.localizedDescription)",
        fix: "Check the permissions of the store's folder, and the free disk space.")
    }
  }
}
