import Foundation

/// What a store's files are like from outside, to notice a change by others where SQLite's locks don't.
struct StoreFilesState: Hashable {
  private let database: FileState?
  private let wal: FileState?
  private let journal: FileState?
  private let hasIndex: Bool

  init(of url: URL?) {
    database = url.flatMap(FileState.init)
    wal = url.flatMap { FileState(SQLiteFileName.companion(of: $0, "-wal")) }
    journal = url.flatMap { FileState(SQLiteFileName.companion(of: $0, "-journal")) }
    hasIndex = url.map { FileState(SQLiteFileName.companion(of: $0, "-shm")) != nil } ?? false
  }

  /// Nil where there was none before: locks do the work.
  init?(ifNeeded before: StoreFilesState?, of url: URL?) {
    guard before != nil else { return nil }
    self.init(of: url)
  }
}
