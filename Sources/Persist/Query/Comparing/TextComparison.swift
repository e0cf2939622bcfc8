import Foundation

/// Compares texts with the options of the format language.
///
/// Without options, texts are compared by their UTF-8 bytes, as in SQLite: composed and decomposed letters differ. `c`
/// and `d` compare folded forms: `c` as Foundation's `caseInsensitiveCompare` does, see ``CaseFolding``; `d` without
/// marks. `l` uses the current locale.
package struct TextComparison: Sendable {
  package let options: FetchPredicate.Options

  package init(_ options: FetchPredicate.Options) {
    self.options = options.contains(.normalized) ? [] : options
  }

  func order(_ left: String, _ right: String) -> ValueOrder {
    if options.contains(.localeSensitive) {
      switch left.compare(right, options: foundationOptions, range: nil, locale: .current) {
      case .orderedAscending: return .less
      case .orderedSame: return .equal
      case .orderedDescending: return .greater
      }
    }
    return Self.byteOrder(folded(left), folded(right))
  }

  func contains(_ text: String, _ part: String) -> Bool {
    if options.contains(.localeSensitive) { return hasRange(text, of: part) }
    return Self.contains(Array(folded(text).utf8), Array(folded(part).utf8))
  }

  func begins(_ text: String, with part: String) -> Bool {
    if options.contains(.localeSensitive) { return hasRange(text, of: part, further: .anchored) }
    return folded(text).utf8.starts(with: folded(part).utf8)
  }

  package func ends(_ text: String, with part: String) -> Bool {
    if options.contains(.localeSensitive) { return hasRange(text, of: part, further: [.anchored, .backwards]) }
    return folded(text).utf8.reversed().starts(with: folded(part).utf8.reversed())
  }

  /// The form of a text that is compared byte by byte.
  package func folded(_ text: String) -> String {
    options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive])
      ? text
      : Self.fold(
        text, case: options.contains(.caseInsensitive), diacritics: options.contains(.diacriticInsensitive))
  }

  /// Folds upper and lower case, and letters with and without marks, together.
  ///
  /// Letters are composed unless marks are removed, so that a part never ends between a letter and its mark.
  private static func fold(_ text: String, case foldsCase: Bool, diacritics foldsDiacritics: Bool) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return foldsCase ? text.lowercased() : text }
    let folded = foldsCase ? CaseFolding.fold(text) : text
    return foldsDiacritics ? withoutMarks(folded) : folded.precomposedStringWithCanonicalMapping
  }

  /// Lower case without marks, as derived attributes store it. It uses Unicode's own mappings, the same on every
  /// platform, so that stored values stay correct wherever the store is opened.
  ///
  /// Case is folded to upper and then to lower case, so that the forms of sigma, and ß and ss, coincide.
  package static func canonical(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
    let upper = text.unicodeScalars.reduce(into: "") { $0 += $1.properties.uppercaseMapping }
    return withoutMarks(upper.unicodeScalars.reduce(into: "") { $0 += $1.properties.lowercaseMapping })
  }

  private static func withoutMarks(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.decomposedStringWithCanonicalMapping.unicodeScalars
    where scalar.properties.generalCategory != .nonspacingMark {
      scalars.append(scalar)
    }
    return String(scalars)
  }

  private static func byteOrder(_ left: String, _ right: String) -> ValueOrder {
    if left.utf8.elementsEqual(right.utf8) { return .equal }
    return left.utf8.lexicographicallyPrecedes(right.utf8) ? .less : .greater
  }

  private static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
    // A part that consists only of combining marks is empty after folding.
    guard let first = part.first else { return true }
    guard part.count <= text.count else { return false }
    return (0...text.count - part.count).contains { start in
      text[start] == first && text[start..<start + part.count].elementsEqual(part)
    }
  }

  private var foundationOptions: String.CompareOptions {
    var found: String.CompareOptions = []
    if options.contains(.caseInsensitive) { found.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { found.insert(.diacriticInsensitive) }
    return found
  }

  private func hasRange(_ text: String, of part: String, further: String.CompareOptions = []) -> Bool {
    part.isEmpty
      || text.range(of: part, options: foundationOptions.union(further), range: nil, locale: .current) != nil
  }
}
