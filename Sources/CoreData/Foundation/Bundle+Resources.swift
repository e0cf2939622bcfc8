public import Foundation

extension Bundle {
  /// Returns the resources with an extension. The source pass puts it in the place of
  /// `urls(forResourcesWithExtension:subdirectory:)`.
  public func resourceURLs(forResourcesWithExtension fileExtension: String?, subdirectory: String?) -> [URL]? {
    guard var folder = resourceURL else { return nil }
    if let subdirectory { folder.appendPathComponent(subdirectory, isDirectory: true) }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().map { folder.appendingPathComponent($0) }
      .filter { fileExtension == nil || $0.pathExtension == fileExtension }
  }
}
