import Foundation

/// The files of the stores open in this program, in any coordinator.
///
/// Deleting a file under an open store would lose everything saved afterwards.
enum OpenStoreFiles {
  private static let files = LockProtected<[ObjectIdentifier: FileState]>([:])

  static func add(_ url: URL, of pool: SQLiteConnectionPool) {
    guard let file = FileState(url) else { return }
    files.withLock { $0[ObjectIdentifier(pool)] = file }
  }

  static func remove(_ pool: SQLiteConnectionPool) {
    files.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(pool)) }
  }

  /// The number of stores that have a file open, under any name.
  static func count(of url: URL) -> Int {
    guard let file = FileState(url) else { return 0 }
    return files.withLock { $0.values.count { $0.isSameFile(as: file) } }
  }
}
