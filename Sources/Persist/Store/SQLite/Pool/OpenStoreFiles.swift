import Foundation

/// The files of the stores that are open in this program, by whichever coordinator.
///
/// A file that is deleted under an open store would take what is saved from then on with it.
enum OpenStoreFiles {
  private static let files = Guarded<[ObjectIdentifier: FileState]>([:])

  static func add(_ url: URL, of pool: SQLiteConnectionPool) {
    guard let file = FileState(url) else { return }
    files.withLock { $0[ObjectIdentifier(pool)] = file }
  }

  static func remove(_ pool: SQLiteConnectionPool) {
    files.withLock { _ = $0.removeValue(forKey: ObjectIdentifier(pool)) }
  }

  /// How many stores have a file open, under whatever name.
  static func count(of url: URL) -> Int {
    guard let file = FileState(url) else { return 0 }
    return files.withLock { $0.values.count { $0.isSameFile(as: file) } }
  }
}
