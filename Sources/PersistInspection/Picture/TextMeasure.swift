/// Estimated text widths, because no fonts are available: rather a little too wide than too narrow.
enum TextMeasure {
  /// The width of bold letters relative to regular ones.
  static let bold = 1.1

  /// - Parameters:
  ///   - text: the text to measure.
  ///   - size: the font size, in the picture's units.
  static func width(_ text: String, size: Double) -> Double {
    text.reduce(0) { $0 + width($1) } * size
  }

  /// The text, truncated at its end if it is wider than the limit.
  static func fitted(_ text: String, width limit: Double, size: Double) -> String {
    guard width(text, size: size) > limit else { return text }
    var result = ""
    var used = width("…", size: size)
    for character in text {
      used += width(character) * size
      if used > limit { break }
      result.append(character)
    }
    return result + "…"
  }

  private static func width(_ character: Character) -> Double {
    switch character {
    case "i", "j", "l", "I", ".", ",", ":", ";", "'", "|", "!": 0.32
    case "f", "r", "t", " ", "(", ")", "-": 0.42
    case "m", "w", "M", "W", "@", "%": 0.95
    case _ where character.isUppercase: 0.72
    case _ where character.isASCII: 0.6
    case _ where (character.unicodeScalars.first?.value ?? 0) < 0x1100: 0.68
    default: 1.05
    }
  }
}
