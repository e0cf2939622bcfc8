package import Foundation

/// The files of the page, which the plugin StudioPageText embeds in the program.
package enum StudioPage {
  /// A file with its media type.
  package struct File: Sendable {
    /// The media type.
    package let type: String
    /// The content.
    package let content: Data
  }

  /// Returns a file by its path; nil if there is none.
  package static func file(_ path: String) -> File? {
    guard let text = PageText.files[path] else { return nil }
    return File(type: type(of: path), content: Data(text.utf8))
  }

  /// The paths of all files.
  package static var paths: [String] { PageText.files.keys.sorted() }

  private static func type(of path: String) -> String {
    switch path.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "svg": "image/svg+xml"
    default: "application/octet-stream"
    }
  }
}
