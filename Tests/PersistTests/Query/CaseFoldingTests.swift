import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// The law: `==[c]` is Foundation's `caseInsensitiveCompare`.
@Suite("Case folding")
struct CaseFoldingTests {
  private func agrees(_ left: String, _ right: String) -> Bool {
    (StoredValue.string(left).isSame(as: .string(right), options: .caseInsensitive))
      == (left.caseInsensitiveCompare(right) == .orderedSame)
  }

  @Test("Letters with unusual case folding")
  func oddLetters() {
    let letters = [
      "ı", "I", "i", "İ", "i\u{307}", "ß", "ẞ", "ss", "SS", "sS", "ſ", "s", "S", "K", "k", "Å", "å", "a\u{30A}", "ﬁ", "fi",
      "FI", "Σ", "ς", "σ", "ǆ", "ǅ", "Ǆ", "µ", "μ", "Ω", "ω", "ᾳ", "ᾼ", "αι", "α\u{345}", "ŉ", "ʼn", "É", "é", "e\u{301}",
      "e", "Ꭰ", "ꭰ", "", "\u{301}", "\u{345}", "ι", "1", "ａ", "Ａ",
    ]
    for left in letters {
      // Foundation considers the decomposed letter equal to both of two texts that it distinguishes.
      for right in letters where Set([left, right]) != ["αι", "α\u{345}"] {
        #expect(agrees(left, right), "'\(left)' and '\(right)'")
      }
    }
  }

  @Test("Every letter and its mappings")
  func everyLetter() {
    for value in UInt32(0x80)...0x1FFFF {
      guard let scalar = Unicode.Scalar(value), scalar.properties.isCased else { continue }
      let properties = scalar.properties
      for mapping in [properties.lowercaseMapping, properties.uppercaseMapping, properties.titlecaseMapping]
      where !agrees(String(scalar), mapping) {
        Issue.record("U+\(String(value, radix: 16)) and '\(mapping)'")
      }
    }
  }

  @Test("Random texts of such letters", .law("case-folding", short: 5000, long: 1_000_000))
  func randomTexts() {
    let scalars = (UInt32(0x41)...0x1FFF).compactMap(Unicode.Scalar.init).filter { $0.properties.isCased }
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      var (left, right) = ("", "")
      for _ in 0..<Int.random(in: 1...5, using: &random) {
        guard let scalar = scalars.randomElement(using: &random) else { return }
        left.unicodeScalars.append(scalar)
        let properties = scalar.properties
        right +=
          [
            String(scalar), properties.lowercaseMapping, properties.uppercaseMapping, properties.titlecaseMapping,
            String(scalar).decomposedStringWithCanonicalMapping,
          ].randomElement(using: &random) ?? ""
      }
      #expect(agrees(left, right), "'\(left)' and '\(right)'")
    }
  }

  @Test("Stored canonical texts keep their values")
  func canonical() {
    let texts = ["Héllo Wörld": "hello world", "ẞ": "ß", "Straße": "strasse", "I": "i", "ı": "i", "Σας": "σασ"]
    for (text, canonical) in texts { #expect(TextComparison.canonical(text) == canonical) }
  }
}
