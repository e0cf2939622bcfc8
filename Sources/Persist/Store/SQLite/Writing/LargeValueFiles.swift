import Foundation

/// The files of large values written and replaced by one commit.
///
/// A file is on disk before the row that names it is committed, and is deleted only when no row names it: a crash in
/// between leaves an unused file, never a name without its file.
struct LargeValueFiles {
  /// Nil for an in-memory store, which stores everything in the rows.
  let folder: ExternalDataFolder?
  private var written: [URL] = []
  /// The files named by rows that were changed or deleted.
  private(set) var replaced: [String] = []

  init(_ folder: ExternalDataFolder?) { self.folder = folder }

  /// The column content for a value: the value after a byte 1, or the name of a new file between bytes 2 and 0.
  mutating func columnContent(of data: Data) throws -> Data {
    guard let folder, data.count > TableMap.largestInlineValue else { return Data([1]) + data }
    let name = UUID().uuidString
    let file = folder.url.appendingPathComponent(name, isDirectory: false)
    do {
      if written.isEmpty { try folder.make() }
      written.append(file)
      try StorePermissions.makeFile(file, like: folder.permissions)
      let handle = try FileHandle(forWritingTo: file)
      defer { try? handle.close() }
      try handle.write(contentsOf: data)
      try handle.synchronize()
    } catch let error as PersistenceError {
      throw error
    } catch {
      throw PersistenceError(
        .init(ofWriting: error), at: .file(file), "A large value can't be written: \(error.localizedDescription)",
        fix: "Check the free disk space and the permissions of the store's folder.")
    }
    return Data([2]) + Data(name.utf8) + Data([0])
  }

  /// Records that a changed or deleted row named a file.
  @inline(never)
  mutating func replace(columnContent: Data) {
    guard columnContent.first == 2 else { return }
    replaced.append(columnContent.largeValueName)
  }

  /// Ensures that the directory entries of the new files are on disk too.
  func synchronizeFolder() throws {
    guard let folder, !written.isEmpty else { return }
    try FileSynchronization.synchronize(folder.url)
  }

  /// The number of files written so far.
  var writtenCount: Int { written.count }

  /// Deletes the files written since there were `count`, because no row will name them.
  mutating func discardWritten(since count: Int) {
    for file in written.dropFirst(count) { try? FileManager.default.removeItem(at: file) }
    written.removeSubrange(min(count, written.count)...)
  }

  /// Deletes the new files after a failed commit. One that can't be removed does no harm.
  func discardWritten() {
    for file in written { try? FileManager.default.removeItem(at: file) }
  }

  /// Deletes the files that the rows named before a commit. One that can't be removed does no harm.
  func discardReplaced(_ files: ExternalDataFolder?) { files?.discard(replaced) }
}
