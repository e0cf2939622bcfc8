extension Unicode.Scalar {
  /// Whether a terminal interprets the character, or ends the line after it.
  package var isInterpreted: Bool {
    switch self {
    // These change the direction of all text that follows.
    case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{2028}", "\u{2029}": true
    default: properties.generalCategory == .control
    }
  }
}

extension String {
  /// The text with escapes for characters that a terminal interprets, except line breaks: names of entities, files and
  /// versions come from outside, too.
  var legible: String {
    guard unicodeScalars.contains(where: \.isToEscape) else { return self }
    return unicodeScalars.reduce(into: "") { text, scalar in
      if scalar.isToEscape { text += scalar.escaped(asASCII: true) } else { text.unicodeScalars.append(scalar) }
    }
  }
}

extension Unicode.Scalar {
  fileprivate var isToEscape: Bool { self != "\n" && isInterpreted }
}
