public import Foundation

/// The contents of a folder at one moment: every path with its bytes and its modification date.
///
/// Two snapshots are equal if nothing was written in between, not even the same bytes again.
///
/// ```swift
/// let before = try FolderSnapshot(folder)
/// try inspect(store)
/// try #expect(FolderSnapshot(folder) == before)
/// ```
public struct FolderSnapshot: Hashable, Sendable {
  public struct Entry: Hashable, Sendable {
    /// Nil for a folder.
    public let bytes: Data?
    public let modified: Date?
  }

  /// By path within the folder.
  public let entries: [String: Entry]

  public init(_ folder: URL) throws {
    let files = FileManager.default
    var entries: [String: Entry] = [:]
    for path in try files.subpathsOfDirectory(atPath: folder.path) {
      let url = folder.appendingPathComponent(path)
      let attributes = try files.attributesOfItem(atPath: url.path)
      let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
      entries[path] = Entry(
        bytes: isFolder ? nil : try Data(contentsOf: url), modified: attributes[.modificationDate] as? Date)
    }
    self.entries = entries
  }

  public var paths: [String] { entries.keys.sorted() }
}
