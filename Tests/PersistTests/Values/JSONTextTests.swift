import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("The text of JSON values")
struct JSONTextTests {
  /// The text by which the digests of recorded models were computed first.
  private func encoded(_ value: JSONElement) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self) + "\n"
  }

  @Test("Texts are those of Foundation's encoder", .law("json-text", short: 300, long: 20_000))
  func encoder() throws {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let value = Self.value(depth: 0, &random)
      let wanted = try encoded(value)
      #expect(value.text == wanted, "seed \(seed)")
    }
  }

  @Test("The text of a model is that of Foundation's encoder", arguments: [SampleModels.people, SampleModels.shapes])
  func models(_ description: ModelDescription) throws {
    let value = try JSONReader.value(in: Data(description.json.utf8))
    #expect(try encoded(value) == description.json)
  }

  private static func value(depth: Int, _ random: inout SeededRandom) -> JSONElement {
    switch Int.random(in: 0..<(depth < 4 ? 9 : 6), using: &random) {
    case 0: .null
    case 1: .boolean(Bool.random(using: &random))
    case 2: .integer(Int64.random(in: .min ... .max, using: &random))
    case 3: .double(Double.random(in: -1e9...1e9, using: &random))
    case 4: .decimal(Decimal(Int.random(in: -9999...9999, using: &random)) / 1000)
    case 5: .string(text(&random))
    case 6, 7: .array((0..<Int.random(in: 0...3, using: &random)).map { _ in value(depth: depth + 1, &random) })
    default:
      .object(
        Dictionary(
          (0..<Int.random(in: 0...4, using: &random)).map { _ in (text(&random), value(depth: depth + 1, &random)) },
          uniquingKeysWith: { first, _ in first }))
    }
  }

  private static func text(_ random: inout SeededRandom) -> String {
    let letters: [Character] = [
      "a", "b", "Z", "9", "_", " ", "/", "\\", "\"", "\u{0}", "\u{7}", "\u{8}", "\t", "\n", "\u{B}", "\u{C}",
      "\r", "\u{1F}", "\u{7F}", "é", "e\u{301}", "\u{2028}", "\u{FFFD}", "😀",
    ]
    return String((0..<Int.random(in: 0...6, using: &random)).map { _ in letters.randomElement(using: &random) ?? "a" })
  }
}
