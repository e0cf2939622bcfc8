import Foundation

/// A copy of a store that isn't complete yet, in a temporary folder beside its final place.
///
/// The folder is locked before anything is written to it, until it is deleted, and the system releases the lock when
/// the process ends. So at every moment, a copy in progress is distinguishable from one that a killed process left.
final class UnfinishedCopy {
  /// The suffix of the folder's name, followed by a unique name.
  static var suffix: String { SQLiteFileName.unfinishedSuffix }

  /// The file to write.
  let file: URL
  private let place: URL
  private let folder: URL
  /// Nil if the file system can't lock folders. Then no process deletes the folder of another.
  private let lock: FolderLock?

  /// - Parameters:
  ///   - place: The final place of the copy.
  ///   - permissions: The permissions of the store, which the copy gets too.
  /// - Throws: ``PersistenceError/Code/fileAccess`` if the folder can't be made.
  init(of place: URL, like permissions: StorePermissions?) throws {
    self.place = place
    (folder, lock) = try Self.makeFolder(for: place, like: permissions)
    file = folder.appendingPathComponent(place.lastPathComponent, isDirectory: false)
  }

  private static func makeFolder(
    for place: URL, like permissions: StorePermissions?
  ) throws -> (URL, FolderLock?) {
    for _ in 0..<100 {
      let folder = place.deletingLastPathComponent()
        .appendingPathComponent(place.lastPathComponent + suffix + UUID().uuidString, isDirectory: true)
      do {
        try StorePermissions.makeFolder(folder, like: permissions)
      } catch {
        throw PersistenceError(
          .fileAccess, at: .file(folder), "The folder for the copy can't be created: \(error.localizedDescription)",
          fix: "Check the permissions of the folder above it, and the free disk space.")
      }
      switch FolderLock.attempt(folder) {
      case .held(let lock): return (folder, lock)
      case .unsupported: return (folder, nil)
      // Another process that cleans up acquired the lock first, and deletes the empty folder.
      case .refused: continue
      }
    }
    throw PersistenceError(
      .storeBusy, at: .file(place), "Other processes repeatedly deleted the folder for the copy.",
      fix: "Try again.")
  }

  /// Moves the copy to its final place. If another program has created a file there, it fails.
  func finish() throws {
    do {
      // A link never replaces a file.
      try FileManager.default.linkItem(at: file, to: place)
    } catch where FileState(place) == nil {
      // Not every file system has links.
      try FileManager.default.moveItem(at: file, to: place)
    }
    discard()
  }

  /// Deletes the folder and its content.
  func discard() { try? FileManager.default.removeItem(at: folder) }

  // MARK: After a kill

  /// The incomplete copies in a folder, both in progress and left by killed processes.
  static func all(in folder: URL) -> [URL] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().filter { SQLiteFileName.finishedCopy(of: $0) != nil }.map(folder.appendingPathComponent)
  }

  /// Deletes the incomplete copies that killed processes have left of a file.
  static func removeLeftovers(of place: URL) {
    let prefix = place.lastPathComponent + suffix
    for copy in all(in: place.deletingLastPathComponent()) where copy.lastPathComponent.hasPrefix(prefix) {
      remove(copy)
    }
  }

  /// Deletes an incomplete copy unless a process is making it.
  ///
  /// - Parameter copy: The copy's folder, or a file that is written without one.
  /// - Returns: Whether it was deleted.
  @discardableResult
  static func remove(_ copy: URL) -> Bool {
    guard FileState(copy)?.isFolder == true else {
      guard !isWritten(copy) else { return false }
      for companion in SQLiteFileName.companions(of: copy) { try? FileManager.default.removeItem(at: companion) }
      return (try? FileManager.default.removeItem(at: copy)) != nil
    }
    guard !FileState.isLink(copy), let lock = FolderLock.acquire(copy) else { return false }
    return withExtendedLifetime(lock) {
      // Another machine that shares the disk may not see the folder's lock, but it sees SQLite's.
      let names = (try? FileManager.default.contentsOfDirectory(atPath: copy.path)) ?? []
      guard !names.contains(where: { isWritten(copy.appendingPathComponent($0)) }) else { return false }
      return (try? FileManager.default.removeItem(at: copy)) != nil
    }
  }

  /// Whether SQLite's backup holds its lock on a file, as it does while it writes.
  private static func isWritten(_ file: URL) -> Bool {
    do {
      let connection = try SQLiteConnection(file, mode: .readWrite, options: StoreOptions(busyTimeout: .zero))
      defer { connection.close() }
      try connection.execute(.beginExclusive)
      try connection.execute(.rollback)
      return false
    } catch let error as PersistenceError {
      return error.code == .storeBusy
    } catch {
      return true
    }
  }
}
