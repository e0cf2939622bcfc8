import Foundation

/// Checks the disk space that a migration needs beside the store.
struct DiskSpaceCheck {
  let needed: Int64
  let free: Int64

  /// - Returns: Nil if the system doesn't report the free space.
  init?(besideStoreAt store: URL, needed: Int64) {
    let files = FileManager.default
    let folder = store.deletingLastPathComponent().path
    guard let free = (try? files.attributesOfFileSystem(forPath: folder))?[.systemFreeSize] as? NSNumber else {
      return nil
    }
    self.init(needed: needed, free: free.int64Value)
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

  private static func words(_ bytes: Int64) -> String { Measure.bytes(Int(clamping: bytes)) }
}
