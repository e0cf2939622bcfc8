/// An element of an XML file, including its content.
package struct MarkupElement: Sendable, Equatable {
  package let name: String
  package let attributes: [String: String]
  /// The line on which the element starts in its file, counted from 1.
  package let line: Int
  package var children: [MarkupElement] = []
  /// The text directly in the element, with the pieces between its children concatenated.
  package var text = ""

  package init(name: String, attributes: [String: String], line: Int) {
    self.name = name
    self.attributes = attributes
    self.line = line
  }

  /// Returns the children with a name, in order.
  package func children(named name: String) -> [MarkupElement] { children.filter { $0.name == name } }

  /// The element serialized as XML, with attributes sorted by name. Unknown parts of a file are preserved in this form.
  package var markup: String {
    var result = "<\(name)"
    for (name, value) in attributes.sorted(on: \.key) {
      result += " \(name)=\"\(value.escapedForMarkup)\""
    }
    if children.isEmpty && text.isEmpty { return result + "/>" }
    result += ">" + text.escapedForMarkup
    for child in children { result += child.markup }
    return result + "</\(name)>"
  }
}

extension String {
  /// The text with XML's special characters escaped.
  package var escapedForMarkup: String {
    var result = ""
    for scalar in unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\t", "\n", "\r": result += "&#\(scalar.value);"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
