import Foundation
import Persist
import PersistTools

/// Human-readable text of an object: a heading and a line for each property.
struct ObjectText {
  private let width: Int
  private let properties: DumpedProperties

  init(_ properties: DumpedProperties) {
    self.properties = properties
    width = (properties.attributes + properties.relationships).map(\.name.count).max() ?? 0
  }

  func text(_ object: StoreContents.Object) throws -> String {
    var lines = ["\(object.entity.name) \(object.key)"]
    for property in properties.attributes {
      let isDecimal = property.attribute?.type == .decimal
      let decimal = isDecimal ? object.decimalText(of: property).map(words) : nil
      lines.append(try line(property, decimal ?? text(object.value(of: property))))
    }
    for property in properties.relationships {
      let others =
        property.isToMany ? try object.members(of: property) : [object.target(of: property)].compactMap { $0 }
      let shown = others.prefix(12).map(ValueWords.object).joined(separator: ", ")
      let more = others.count > 12 ? ", … \(others.count) in all" : ""
      let none = property.isToMany ? "no objects" : StoredValue.null.description
      lines.append(line(property, others.isEmpty ? none : "→ \(shown)\(more)"))
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private func line(_ property: Property, _ text: String) -> String {
    let padding = String(repeating: " ", count: width - property.name.count)
    return "  \(property.name)\(padding)  \(text)"
  }

  /// The words for the stored text of a decimal, which may not be a number.
  private func words(_ decimal: String) -> String {
    Decimal(storedText: decimal) == nil ? ValueWords.text(decimal) : ValueWords.line(decimal)
  }

  private func text(_ content: StoreContents.Content) -> String {
    switch content {
    case .missingFile(let name): "the file \(ValueWords.text(name)) is missing"
    case .value(let value): value.description
    }
  }
}
