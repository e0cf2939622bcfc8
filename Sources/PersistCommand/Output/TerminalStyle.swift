import Foundation

/// Colors of texts on a terminal.
enum TerminalStyle: String {
  case error = "1;31"
  case heading = "1"
  case note = "33"
  case good = "32"

  /// The text in the style, if colors are shown.
  func applied(to text: String, isShown: Bool) -> String {
    isShown ? "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" : text
  }

  /// Whether colors are shown on a terminal: not if `NO_COLOR` is set, and not on one that calls itself dumb.
  ///
  /// - SeeAlso: <https://no-color.org>
  static func areShown(
    isTerminal: Bool, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> Bool {
    isTerminal && environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
  }
}

extension TerminalStyle {
  /// The text of a plan, with its headings in colors.
  static func plan(_ text: String, isShown: Bool) -> String {
    guard isShown else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { number, line in
      if number == 0 { return heading.applied(to: String(line), isShown: true) }
      switch line {
      case "lost:", "in the way:": return error.applied(to: String(line), isShown: true)
      case "note:": return note.applied(to: String(line), isShown: true)
      case "restored:": return good.applied(to: String(line), isShown: true)
      default: return line.hasPrefix("parked") ? good.applied(to: String(line), isShown: true) : String(line)
      }
    }.joined(separator: "\n")
  }
}
