package import Foundation

/// The files of the page, which are embedded in the program.
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
    guard let bytes = contents[path] else { return nil }
    return File(type: type(of: path), content: Data(bytes))
  }

  /// The paths of all files.
  package static var paths: [String] { contents.keys.sorted() }

  private static func type(of path: String) -> String {
    switch path.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "svg": "image/svg+xml"
    default: "application/octet-stream"
    }
  }

  private static let contents: [String: [UInt8]] = [
    "index.html": PackageResources.index_html,
    "studio.css": PackageResources.studio_css,
    "narrow.css": PackageResources.narrow_css,
    "icon.svg": PackageResources.icon_svg,
    "app.js": PackageResources.app_js,
    "api.js": PackageResources.api_js,
    "dom.js": PackageResources.dom_js,
    "model.js": PackageResources.model_js,
    "sidebar.js": PackageResources.sidebar_js,
    "grid.js": PackageResources.grid_js,
    "cells.js": PackageResources.cells_js,
    "query.js": PackageResources.query_js,
    "rows.js": PackageResources.rows_js,
    "object.js": PackageResources.object_js,
    "values.js": PackageResources.values_js,
    "neighbours.js": PackageResources.neighbours_js,
    "diagram.js": PackageResources.diagram_js,
    "migration.js": PackageResources.migration_js,
    "changes.js": PackageResources.changes_js,
    "editing.js": PackageResources.editing_js,
    "json.js": PackageResources.json_js,
    "lines.js": PackageResources.lines_js,
    "extract.js": PackageResources.extract_js,
    "past.js": PackageResources.past_js,
  ]
}
