import Foundation
import Persist

/// Human-readable text of an object: a heading and a line for each property.
struct ObjectText {
  private let width: Int
  private let properties: DumpedProperties
  private static let longest = 120

  init(_ properties: DumpedProperties) {
    self.properties = properties
    width = (properties.attributes + properties.relationships).map(\.name.count).max() ?? 0
  }

  func text(_ object: StoreContents.Object) throws -> String {
    var lines = ["\(object.entity.name) \(object.key)"]
    for property in properties.attributes {
      let isDecimal = property.attribute?.type == .decimal
      lines.append(try line(property, isDecimal ? object.decimalText(of: property) : text(object.value(of: property))))
    }
    for property in properties.relationships {
      let others =
        property.isToMany ? try object.members(of: property) : [object.target(of: property)].compactMap { $0 }
      let shown = others.prefix(12).map { "\($0.entityName) \($0.primaryKey ?? 0)" }.joined(separator: ", ")
      let more = others.count > 12 ? ", … \(others.count) in all" : ""
      lines.append(line(property, others.isEmpty ? nil : "→ \(shown)\(more)"))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func line(_ property: Property, _ text: String?) -> String {
    let padding = String(repeating: " ", count: width - property.name.count)
    return "  \(property.name)\(padding)  \(text ?? "–")"
  }

  private func text(_ content: StoreContents.Content) -> String? {
    switch content {
    case .missingFile(let name): "the file \(name) is missing"
    case .value(let value): Self.text(value)
    }
  }

  /// The text of a value; nil for null.
  static func text(_ value: StoredValue) -> String? {
    switch value {
    case .null: nil
    case .boolean(let value): value ? "true" : "false"
    case .integer(let value): String(value)
    case .double(let value): value.description
    case .decimal(let value): value.description
    case .string(let value), .uri(let value): quoted(value)
    case .date(let value): DateText.text(value)
    case .data(let value):
      "\(value.count) bytes" + (value.isEmpty ? "" : ": ")
        + value.prefix(16).map { String(format: "%02x", $0) }.joined(separator: " ") + (value.count > 16 ? " …" : "")
    case .uuid(let value): value.uuidString
    case .objectID(let value): value.description
    case .composite(let elements):
      elements.sorted { $0.key < $1.key }.map { "\($0.key): \(text($0.value) ?? "–")" }.joined(separator: ", ")
    }
  }

  /// A quoted, single-line and truncated text; control characters, which a terminal would interpret, are escaped.
  private static func quoted(_ text: String) -> String {
    let shown = text.prefix(longest)
    let visible = shown.unicodeScalars.map { scalar in
      scalar.properties.generalCategory == .control ? scalar.escaped(asASCII: true) : String(scalar)
    }.joined()
    return shown.endIndex == text.endIndex ? "\"\(visible)\"" : "\"\(visible)…\""
  }
}
