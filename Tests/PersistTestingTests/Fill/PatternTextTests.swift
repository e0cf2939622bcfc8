import Foundation
import Persist
@testable import PersistTools
import Testing

@testable import PersistTesting

@Suite("Texts that match a pattern")
struct PatternTextTests {
  @Test(
    "Every text matches its pattern",
    arguments: [
      "[A-Z]{2}[0-9]{9}", "^[a-z]+@[a-z]+\\.(com|org|net)$", "\\d{3}-\\d{4}", "(?:\\+\\d{1,3} )?\\(\\d+\\) \\d*",
      "[^a-y]",
      "a|bc|d{2,}", "[\\w.-]{4,12}", "#[0-9a-fA-F]{6}", "", "[]x]", "x{3}", "([ab]c?){2}", "\\[\\]\\\\",
    ])
  func matches(_ pattern: String) throws {
    let texts = try #require(PatternText(pattern))
    var generator = SeededGenerator(seed: 7)
    for number in 0..<200 {
      let text = texts.text(using: &generator)
      #expect(texts.matches(text), "\(text)")
      let numbered = texts.text(numbered: Int64(number))
      #expect(texts.matches(numbered), "\(numbered)")
    }
  }

  @Test("Numbered texts differ as long as the pattern has more of them")
  func numbered() throws {
    let texts = try #require(PatternText("[A-Z]{2}[0-9]{3}"))
    #expect(Set((0..<676_000).map { texts.text(numbered: $0) }).count == 676_000)
  }

  @Test(
    "An unsupported expression is refused instead of matched wrongly",
    arguments: [
      "(?=a)b", "(a)\\1", "[[:alpha:]]", "a{2", "(a", "a)", "*a", "\\p{L}", "(?i)a", "\\bx", "a{5,2}", "[z-a]",
    ])
  func refused(_ pattern: String) {
    #expect(PatternText(pattern) == nil)
  }
}
