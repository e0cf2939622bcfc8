public import Foundation
import Persist

extension Bundle {
  /// Returns the bundle with the resources of a class's module, which is beside the program; without one, that of the
  /// class. The source pass puts it in the place of `Bundle(for:)`.
  public static func resources(for type: AnyClass) -> Bundle {
    let module = String(reflecting: type).prefix { $0 != "." }
    let found = Bundle.main.moduleFolders.first {
      $0.deletingPathExtension().lastPathComponent.hasSuffix("_\(module)")
    }
    return found.flatMap { Bundle(url: $0) } ?? Bundle(for: type)
  }

  /// Returns a resource of the program, or one of a module if there is only one with this name. The source pass puts it
  /// in the place of `Bundle.main.url(forResource:withExtension:)`.
  public func resourceURL(
    forResource name: String?, withExtension fileExtension: String?, subdirectory: String? = nil
  ) -> URL? {
    if let url = url(forResource: name, withExtension: fileExtension, subdirectory: subdirectory) { return url }
    let found = moduleFolders.compactMap {
      Bundle(url: $0)?.url(forResource: name, withExtension: fileExtension, subdirectory: subdirectory)
    }
    return found.count == 1 ? found.first : nil
  }

  /// Returns the path of a resource of the program, or of one of a module if there is only one with this name. The
  /// source pass puts it in the place of `Bundle.main.path(forResource:ofType:)`.
  public func resourcePath(forResource name: String?, ofType fileExtension: String?) -> String? {
    resourceURL(forResource: name, withExtension: fileExtension)?.path
  }

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
