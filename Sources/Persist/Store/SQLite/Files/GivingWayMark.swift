import Foundation

/// A file beside a store that exists while a connection holds the store for a statement that ends early on request.
///
/// A program that waits for the store deletes the file: that is the request, and it needs no more than a folder that
/// both programs can write. A process that is killed leaves the mark together with the step that it wasn't able to
/// complete; the next program that waits, or that performs the step, deletes it.
struct GivingWayMark {
  private let path: String
  private let exists: Bool

  /// Makes the mark; without the permission to do so, nobody can request anything.
  init(besideStoreAt url: URL) {
    path = Self.path(besideStoreAt: url)
    exists = FileManager.default.createFile(atPath: path, contents: nil)
  }

  /// Whether somebody has deleted the mark.
  var isRequested: Bool { exists && FileState(path: path) == nil }

  func remove() { Self.remove(path) }

  /// Requests that a connection with a mark beside this store gives way.
  static func remove(besideStoreAt url: URL) { remove(path(besideStoreAt: url)) }

  private static func remove(_ path: String) {
    if FileState(path: path) != nil { try? FileManager.default.removeItem(atPath: path) }
  }

  static func url(besideStoreAt url: URL) -> URL { SQLiteFileName.companion(of: url, "-step") }

  private static func path(besideStoreAt url: URL) -> String { Self.url(besideStoreAt: url).path }
}
