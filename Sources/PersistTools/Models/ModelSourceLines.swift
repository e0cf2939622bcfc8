package import Foundation
import Persist

/// The lines of entities and properties in a model's file, for messages about a model that could be read.
package struct ModelSourceLines: Sendable {
  /// The file; nil if the model has no human-readable source.
  package let file: URL?
  private var lines: [String: Int] = [:]

  /// - Parameter url: an `.xcdatamodel` folder or the `contents` in it; other formats have no lines.
  package init(ofModelAt url: URL?) {
    let contents = url.map { $0.isFolder ? $0.appendingPathComponent("contents") : $0 }
    guard let contents, contents.lastPathComponent == "contents", let root = try? MarkupReader.root(of: contents) else {
      file = url
      return
    }
    file = contents
    for type in root.children {
      guard let name = type.attributes["name"] else { continue }
      lines[Self.key(name, nil)] = type.line
      for property in type.children {
        if let own = property.attributes["name"] { lines[Self.key(name, own)] = property.line }
      }
    }
  }

  /// Returns the line of a property, or otherwise of its entity or composite type.
  package func line(of entity: String, _ property: String? = nil) -> Int? {
    lines[Self.key(entity, property)] ?? lines[Self.key(entity, nil)]
  }

  private static func key(_ entity: String, _ property: String?) -> String {
    property.map { "\(entity)/\($0)" } ?? entity
  }
}
