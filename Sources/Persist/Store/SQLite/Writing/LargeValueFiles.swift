import Foundation

/// The files of large values that one commit writes and replaces.
///
/// A file is on the disk before the row that names it is committed, and goes only after no row names it: a crash in
/// between leaves a file that nothing names, never a name without its file.
struct LargeValueFiles {
  /// Values up to this size stand in their row.
  ///
  /// Core Data's own bound isn't documented; about 100 KB is where SQLite says that files become faster.
  ///
  /// - SeeAlso: <https://sqlite.org/intern-v-extern-blob.html>
  static let largestInline = 100 * 1024

  /// Nil for a store in memory: everything then stands in the rows.
  let folder: ExternalDataFolder?
  private var written: [URL] = []
  /// The files that rows named which are changed or deleted.
  private(set) var replaced: [String] = []

  init(_ folder: ExternalDataFolder?) { self.folder = folder }

  /// What a column holds for a value: the value behind a byte 1, or the name of a new file between 2 and 0.
  mutating func columnContent(of data: Data) throws -> Data {
    guard let folder, data.count > Self.largestInline else { return Data([1]) + data }
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
        .fileAccess, at: .file(file), "A large value can't be written: \(error.localizedDescription)",
        fix: "Check the room on the disk and the permissions of the store's folder.")
    }
    return Data([2]) + Data(name.utf8) + Data([0])
  }

  /// Notes that a row which is changed or deleted named a file.
  mutating func replace(columnContent: Data) {
    guard columnContent.first == 2 else { return }
    replaced.append(String(decoding: columnContent.dropFirst().prefix { $0 != 0 }, as: UTF8.self))
  }

  /// Makes sure that the names of the new files are on the disk too.
  func synchronizeFolder() throws {
    guard let folder, !written.isEmpty else { return }
    #if !os(Windows)
      let handle = try FileHandle(forReadingFrom: folder.url)
      defer { try? handle.close() }
      try handle.synchronize()
    #endif
  }

  /// The commit didn't come: its files go again. One that can't be removed does no harm.
  func discardWritten() {
    for file in written { try? FileManager.default.removeItem(at: file) }
  }

  /// The commit is done: what its rows named before goes. One that can't be removed does no harm.
  func discardReplaced(_ files: ExternalDataFolder?) {
    for name in replaced {
      guard let file = try? files?.file(named: name) else { continue }
      try? FileManager.default.removeItem(at: file)
    }
  }
}
