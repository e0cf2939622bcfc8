public import Foundation

/// The collection of real Core Data stores and models, if it is available.
///
/// It is external data and isn't part of the package. A test that needs it says so, and is skipped elsewhere:
///
/// ```swift
/// @Test("Every store shows its rows", .needsSharedData)
/// ```
public enum SharedData {
  /// The folder named by `PERSIST_SHARED_DATA`, otherwise `../shared/data` beside the package; nil if neither exists.
  public static let folder: URL? = {
    let named = ProcessInfo.processInfo.environment["PERSIST_SHARED_DATA"].map { URL(fileURLWithPath: $0) }
    let beside = PackageFolder.url.deletingLastPathComponent().appendingPathComponent("shared/data")
    return [named, beside].compactMap { $0 }.first {
      FileManager.default.fileExists(atPath: $0.appendingPathComponent("coredata").path)
    }
  }()

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
  public static let stores: [URL] = files { url in
    guard let handle = try? FileHandle(forReadingFrom: url) else { return false }
    defer { try? handle.close() }
    return (try? handle.read(upToCount: 16)) == Data("SQLite format 3\0".utf8)
  }

  /// Every model source of the collection, `contents` of an `.xcdatamodel`, in path order.
  public static let modelContents: [URL] = files {
    $0.lastPathComponent == "contents" && $0.deletingLastPathComponent().pathExtension == "xcdatamodel"
  }

  private static func files(where isWanted: (URL) -> Bool) -> [URL] {
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
