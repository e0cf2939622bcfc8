import Persist
import PersistTools

/// Generates pronounceable words.
enum Words {
  private static let onsets = [
    "b", "br", "d", "f", "fl", "g", "h", "k", "l", "m", "n", "p", "pr", "r", "s", "st", "t", "v",
  ]
  private static let vowels = ["a", "e", "i", "o", "u", "ai", "ea", "ou"]
  private static let ends = ["", "", "", "l", "n", "r", "s", "t"]

  static func word(using generator: inout SeededGenerator) -> String {
    var word = ""
    for _ in 0...(generator.below(2)) { word += generator.pick(onsets) + generator.pick(vowels) }
    return word + generator.pick(ends)
  }

  /// Returns one to three words, the first of them capitalized.
  static func phrase(using generator: inout SeededGenerator) -> String {
    var phrase = word(using: &generator).capitalizedFirst
    for _ in 0..<generator.below(3) { phrase += " " + word(using: &generator) }
    return phrase
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
