import Persist

/// SVG text, element by element. Whatever stands in names and texts is escaped.
struct SVGText {
  private(set) var string = ""
  private var depth = 0

  /// An element without content, or with a text.
  mutating func element(_ name: String, _ attributes: KeyValuePairs<String, String>, text: String? = nil) {
    indent()
    open(name, attributes)
    if let text { string += ">\(Self.escaped(text))</\(name)>\n" } else { string += "/>\n" }
  }

  /// An element with others in it.
  mutating func element(
    _ name: String, _ attributes: KeyValuePairs<String, String> = [:], _ body: (inout SVGText) -> Void
  ) {
    indent()
    open(name, attributes)
    string += ">\n"
    depth += 1
    body(&self)
    depth -= 1
    indent()
    string += "</\(name)>\n"
  }

  /// A style sheet, which this program wrote itself.
  mutating func style(_ sheet: String) {
    string += "<style>\n\(sheet)\n</style>\n"
  }

  private mutating func open(_ name: String, _ attributes: KeyValuePairs<String, String>) {
    string += "<\(name)"
    for (key, value) in attributes { string += " \(key)=\"\(Self.escaped(value))\"" }
  }

  private mutating func indent() { string += String(repeating: " ", count: depth) }

  /// The text without what means something in XML, and without characters that XML doesn't allow.
  static func escaped(_ text: String) -> String {
    let allowed = text.unicodeScalars.map { scalar -> Unicode.Scalar in
      switch scalar {
      case "\t", "\n", "\r": " "
      case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{FFFE}", "\u{FFFF}": "\u{FFFD}"
      default: scalar
      }
    }
    return String(String.UnicodeScalarView(allowed)).escapedForMarkup
  }

  /// A length with one decimal place at most.
  static func number(_ value: Double) -> String {
    let tenths = (value * 10).rounded()
    return tenths.truncatingRemainder(dividingBy: 10) == 0 ? "\(Int(tenths / 10))" : "\(tenths / 10)"
  }
}
