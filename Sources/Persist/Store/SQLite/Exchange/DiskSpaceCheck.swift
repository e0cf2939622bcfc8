import Foundation

/// Checks the disk space that a migration needs beside the store.
struct DiskSpaceCheck {
  let needed: Int64
  let free: Int64

  /// - Parameter copies: The number of simultaneous copies of the store, including partial ones.
  /// - Returns: Nil if the system doesn't report the free space.
  init?(besideStoreAt store: URL, copies: Double) {
    let files = FileManager.default
    let folder = store.deletingLastPathComponent().path
    guard let free = (try? files.attributesOfFileSystem(forPath: folder))?[.systemFreeSize] as? NSNumber else {
      return nil
    }
    let log = FileState(SQLiteFileName.companion(of: store, "-wal"))?.size ?? 0
    let bytes = (FileState(store)?.size ?? 0) + log
    self.init(needed: Int64(Double(bytes) * copies) + 64 * 1024, free: free.int64Value)
  }

  init(needed: Int64, free: Int64) {
    self.needed = needed
    self.free = free
  }

  /// - Throws: ``PersistenceError/Code/diskFull`` with the figures.
  func require(at store: URL) throws {
    guard free < needed else { return }
    throw PersistenceError(
      .diskFull, at: .store(store),
      "The migration needs about \(Self.words(needed)) of free disk space next to the store; \(Self.words(free)) is "
        + "available.",
      fix: "Free another \(Self.words(needed - free)). The store is unchanged.")
  }

  private static func words(_ bytes: Int64) -> String {
    bytes < 1_000_000 ? "\((bytes + 999) / 1000) KB" : "\((bytes + 999_999) / 1_000_000) MB"
  }
}
