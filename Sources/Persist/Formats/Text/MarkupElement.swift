/// An element of an XML file, with everything in it.
struct MarkupElement: Sendable, Hashable {
  let name: String
  let attributes: [String: String]
  /// Where the element begins in its file, from 1.
  let line: Int
  var children: [MarkupElement] = []
  /// The text directly in the element, pieces between children put together.
  var text = ""

  /// The children of one name, in order.
  func children(named name: String) -> [MarkupElement] { children.filter { $0.name == name } }

  /// The element as XML again, attributes in name order: the form in which unknown parts of a file are kept.
  var markup: String {
    var result = "<\(name)"
    for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
      result += " \(name)=\"\(value.escapedForMarkup)\""
    }
    if children.isEmpty && text.isEmpty { return result + "/>" }
    result += ">" + text.escapedForMarkup
    for child in children { result += child.markup }
    return result + "</\(name)>"
  }
}

extension String {
  /// The text without what means something in XML.
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
