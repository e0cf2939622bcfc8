import Foundation

/// The files of the stores open in this program, in any coordinator.
///
/// Deleting a file under an open store would lose everything saved afterward.
enum OpenStoreFiles {
  private struct OpenFile {
    let file: FileState
    let states: HeldStates
  }

  private static let files = LockProtected<[ObjectIdentifier: OpenFile]>([:])

  /// - Returns: The held states of the file, which all its pools share; nil if there is no such file.
  static func add(_ url: URL, of pool: SQLiteConnectionPool) -> HeldStates? {
    guard let file = FileState(url) else { return nil }
    return files.withLock { files in
      let states = files.values.first { $0.file.isSameFile(as: file) }?.states ?? HeldStates()
      files[ObjectIdentifier(pool)] = OpenFile(file: file, states: states)
      return states
    }
  }

  static func remove(_ pool: SQLiteConnectionPool) {
    files.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(pool)) }
  }

  /// The number of stores that have a file open, under any name.
  static func count(of url: URL) -> Int {
    guard let file = FileState(url) else { return 0 }
    return files.withLock { $0.values.count { $0.file.isSameFile(as: file) } }
  }
}
