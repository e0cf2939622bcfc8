import Foundation

/// Folds upper and lower case together as Foundation's `caseInsensitiveCompare` does on this platform: ß equals ss, the
/// forms of sigma are equal, and the dotless ı doesn't equal i.
enum CaseFolding {
  /// The folded form of each character beyond ASCII that differs from its folded form.
  ///
  /// Foundation's folding goes further than its comparison, which distinguishes the iota below a Greek letter from one
  /// after it. A form is used only if the comparison considers it equal to the character.
  private static let forms: [Unicode.Scalar: String] = {
    var forms: [Unicode.Scalar: String] = Dictionary()
    for value in UInt32(0x80)...0x1FFFF {
      guard let scalar = Unicode.Scalar(value), scalar.properties.changesWhenCaseFolded || scalar.properties.isCased
      else { continue }
      let text = String(scalar)
      for form in [text.folding(options: .caseInsensitive, locale: nil), scalar.properties.lowercaseMapping]
      where !form.utf8.elementsEqual(text.utf8) && text.caseInsensitiveCompare(form) == .orderedSame {
        forms[scalar] = form
        break
      }
    }
    return forms
  }()

  /// The text with every letter folded and its marks composed.
  static func fold(_ text: String) -> String {
    let mayCompose = text.unicodeScalars.contains { $0.value >= 0x300 }
    var folded = ""
    folded.reserveCapacity(text.utf8.count)
    var isComposed = !mayCompose
    for scalar in (mayCompose ? text.precomposedStringWithCanonicalMapping : text).unicodeScalars {
      if scalar == iotaBelow {
        folded.unicodeScalars.append(scalar)
      } else if let form = forms[scalar] {
        folded += form
        isComposed = isComposed && form.unicodeScalars.count == 1
      } else {
        folded.unicodeScalars.append(scalar.asciiLowercased)
      }
    }
    if isComposed { return folded }
    let composed = folded.precomposedStringWithCanonicalMapping
    guard composed.unicodeScalars.contains(iotaBelow) else { return composed }
    // An iota without a letter above it becomes a plain iota.
    return String(String.UnicodeScalarView(composed.unicodeScalars.map { $0 == iotaBelow ? "ι" : $0 }))
  }

  private static let iotaBelow: Unicode.Scalar = "\u{345}"
}

extension Unicode.Scalar {
  fileprivate var asciiLowercased: Unicode.Scalar {
    (0x41...0x5A).contains(value) ? Unicode.Scalar(UInt8(value + 0x20)) : self
  }
}
