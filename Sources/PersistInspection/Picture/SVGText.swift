import Persist

/// SVG text, written element by element. Names and texts are escaped.
struct SVGText {
  private(set) var string = ""
  private var depth = 0

  /// Writes an element that is empty or contains text.
  mutating func element(_ name: String, _ attributes: KeyValuePairs<String, String>, text: String? = nil) {
    indent()
    open(name, attributes)
    if let text { string += ">\(Self.escaped(text))</\(name)>\n" } else { string += "/>\n" }
  }

  /// Writes an element that contains others.
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

  /// Writes a style sheet, unescaped: it is a constant of this program.
  mutating func style(_ sheet: String) {
    string += "<style>\n\(sheet)\n</style>\n"
  }

  private mutating func open(_ name: String, _ attributes: KeyValuePairs<String, String>) {
    string += "<\(name)"
    for (key, value) in attributes { string += " \(key)=\"\(Self.escaped(value))\"" }
  }

  private mutating func indent() { string += String(repeating: " ", count: depth) }

  /// The text with XML's special characters escaped and invalid characters replaced.
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

  /// A length with at most one decimal place.
  static func number(_ value: Double) -> String {
    let tenths = (value * 10).rounded()
    return tenths.truncatingRemainder(dividingBy: 10) == 0 ? "\(Int(tenths / 10))" : "\(tenths / 10)"
  }
}
