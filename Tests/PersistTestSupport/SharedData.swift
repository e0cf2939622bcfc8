public import Foundation

/// The collection of real Core Data stores and models, if it is available.
///
/// It is external data and isn't part of the package. A test that needs it says so, and is skipped elsewhere:
///
/// ```swift
/// @Test("Every store shows its rows", .needsSharedData)
/// ```
///
/// In a run with a key it is a copy whose stores are encrypted.
public enum SharedData {
  /// The folder named by `PERSIST_SHARED_DATA`, otherwise `../shared/data` beside the package; nil if neither exists.
  private static let original: URL? = {
    let named = ProcessInfo.processInfo.environment["PERSIST_SHARED_DATA"].map { URL(fileURLWithPath: $0) }
    let beside = PackageFolder.url.deletingLastPathComponent().appendingPathComponent("shared/data")
    return [named, beside].compactMap { $0 }.first {
      FileManager.default.fileExists(atPath: $0.appendingPathComponent("coredata").path)
    }
  }()

  /// The folder of the collection, or of its copy.
  public static let folder: URL? = original.map { original in
    guard TestKey.isUsed else { return original }
    do { return try encryptedCopy(of: original) } catch {
      preconditionFailure("The collection can't be copied: \(error)")
    }
  }

  /// Copies the collection, which may be read-only, for the rest of the run.
  private static func encryptedCopy(of original: URL) throws -> URL {
    let files = FileManager.default
    let copy = files.temporaryDirectory.appendingPathComponent("persist-data-\(UUID().uuidString)")
    TestRun.removeAtEnd(copy)
    for path in try files.subpathsOfDirectory(atPath: original.path) {
      let (source, target) = (original.appendingPathComponent(path), copy.appendingPathComponent(path))
      var isFolder: ObjCBool = false
      _ = files.fileExists(atPath: source.path, isDirectory: &isFolder)
      try files.createDirectory(
        at: isFolder.boolValue ? target : target.deletingLastPathComponent(), withIntermediateDirectories: true)
      if isFolder.boolValue { continue }
      try files.copyItem(at: source, to: target)
      try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: target.path)
    }
    for store in stores(in: copy) { try TestKey.encrypt(store) }
    return copy
  }

  public static var isAvailable: Bool { folder != nil }

  /// A file or folder in `coredata`, such as `posts/CoreDataMigration_Example_1.sqlite`.
  ///
  /// - Throws: if there is no collection or no such file in it.
  public static func url(_ path: String) throws -> URL {
    guard let url = folder?.appendingPathComponent("coredata").appendingPathComponent(path),
      FileManager.default.fileExists(atPath: url.path)
    else { throw Missing(path: path) }
    return url
  }

  /// Every SQLite file of the collection, in path order.
  public static let stores: [URL] = {
    guard let original, let folder else { return [] }
    let length = original.path.count + 1
    return stores(in: original).map { folder.appendingPathComponent(String($0.path.dropFirst(length))) }
  }()

  private static func stores(in folder: URL) -> [URL] {
    files(in: folder) { url in
      guard let handle = try? FileHandle(forReadingFrom: url) else { return false }
      defer { try? handle.close() }
      return (try? handle.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
    }
  }

  /// Every model source of the collection, `contents` of an `.xcdatamodel`, in path order.
  public static let modelContents: [URL] = files(in: folder) {
    $0.lastPathComponent == "contents" && $0.deletingLastPathComponent().pathExtension == "xcdatamodel"
  }

  private static func files(in folder: URL?, where isWanted: (URL) -> Bool) -> [URL] {
    guard let root = folder?.appendingPathComponent("coredata"),
      let paths = FileManager.default.enumerator(at: root, includingPropertiesForKeys: [.isRegularFileKey])
    else { return [] }
    var found: [URL] = []
    for case let url as URL in paths
    where (try? url.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == true && isWanted(url) {
      found.append(url)
    }
    return found.sorted { $0.path < $1.path }
  }

  struct Missing: Error, CustomStringConvertible {
    let path: String
    var description: String { "The collection of real stores has no \(path), or isn't there." }
  }
}
