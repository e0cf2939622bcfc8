import Foundation

/// The external state of a store's files, to detect changes by others where SQLite's locks aren't used.
struct StoreFilesState: Hashable {
  private let database: FileState?
  private let wal: FileState?
  private let journal: FileState?
  private let hasIndex: Bool

  @inline(never)
  init(of url: URL?) {
    database = url.flatMap(FileState.init)
    wal = url.flatMap { FileState(SQLiteFileName.companion(of: $0, "-wal")) }
    journal = url.flatMap { FileState(SQLiteFileName.companion(of: $0, "-journal")) }
    hasIndex = url.map { FileState(SQLiteFileName.companion(of: $0, "-shm")) != nil } ?? false
  }

  /// Nil if there was no state before, because locks are used.
  init?(ifNeeded before: StoreFilesState?, of url: URL?) {
    guard before != nil else { return nil }
    self.init(of: url)
  }
}
