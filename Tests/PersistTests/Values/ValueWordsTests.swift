import Foundation
import Persist
import PersistTestSupport
import Testing

@Suite("The wording of values")
struct ValueWordsTests {
  private static let uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

  @Test("Each kind of value has one wording", arguments: [
    (StoredValue.null, "no value"), (.boolean(true), "true"), (.integer(-5), "-5"), (.double(1.5), "1.5"),
    (.double(.nan), "NaN"), (.double(-.infinity), "-infinity"), (.decimal(Decimal(string: "2.50") ?? 0), "2.5"),
    (.string("Tea"), "'Tea'"), (.string(""), "''"),
    (.string("It's\na \\ \"tea\"\u{1B}[0m"), #"'It\'s\na \\ "tea"\u{1B}[0m'"#),
    (.uri("https://example.com/a?b"), "'https://example.com/a?b'"),
    (.date(Date(timeIntervalSinceReferenceDate: 662_688_000)), "2022-01-01T00:00:00Z"),
    (.date(Date(timeIntervalSinceReferenceDate: 662_688_000.25)), "2022-01-01T00:00:00.250000Z"),
    (.date(.distantPast), "63114076800 seconds before 2001"), (.date(.distantFuture), "4001-01-01T00:00:00Z"),
    (.date(Date(timeIntervalSinceReferenceDate: 1e300)), "1e+300 seconds after 2001"),
    (.date(Date(timeIntervalSinceReferenceDate: .infinity)), "infinity"),
    (.date(Date(timeIntervalSinceReferenceDate: .nan)), "NaN"),
    (.data(Data()), "0 bytes"), (.data(Data([7])), "1 byte (07)"), (.data(Data([1, 2, 255])), "3 bytes (01 02 ff)"),
    (.data(Data(repeating: 0, count: 5000)), "5000 bytes (00 00 00 00 00 00 00 00 …)"),
    (.uuid(Self.uuid), "01020304-0506-0708-090A-0B0C0D0E0F10"),
    (.objectID(ManagedObjectID(entityName: "Item", storeIdentifier: "S", key: .permanent(5))), "Item 5"),
    (.objectID(ManagedObjectID(temporaryFor: "Item")), "an unsaved Item"), (.composite([:]), "()"),
    (.composite(["zip": .null, "city": .string("Rome")]), "(city: 'Rome', zip: no value)"),
  ])
  func kinds(_ value: StoredValue, words: String) {
    #expect("\(value)" == words && value.description == words && String(reflecting: value) == words)
    #expect("\([value])" == "[\(words)]")
  }

  @Test("Long texts are shortened, whatever their characters consist of")
  func longTexts() {
    #expect(StoredValue.string(String(repeating: "a", count: 80)).description.hasSuffix("aa'"))
    let long = StoredValue.string(String(repeating: "é", count: 81))
    #expect(long.description == "'\(String(repeating: "é", count: 80))…'")
    let stacked = "a" + String(repeating: "\u{301}", count: 100_000)
    #expect(StoredValue.string(stacked).description.unicodeScalars.count < 400)
    #expect(StoredValue.string("👩‍👩‍👧‍👦").description == "'👩‍👩‍👧‍👦'")
  }

  @Test("Whatever a value is, its wording is one line of limited length", .law("value words", short: 300, long: 20_000))
  func lines() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let words = value(&random, level: 0).description
      #expect(!words.isEmpty && words.unicodeScalars.count < 3000, "\(words)")
      #expect(words.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }, "\(words)")
      for reason in ["string(", "Optional(", "integer(", "composite("] { #expect(!words.hasPrefix(reason), "\(words)") }
    }
  }

  private func value(_ random: inout SeededRandom, level: Int) -> StoredValue {
    switch Int.random(in: 0..<(level < 20 ? 11 : 10), using: &random) {
    case 0: return .null
    case 1: return .boolean(.random(using: &random))
    case 2: return .integer(.random(in: .min ... .max, using: &random))
    case 3: return .double(Double(bitPattern: .random(in: 0 ... .max, using: &random)))
    case 4: return .decimal(Decimal(sign: .minus, exponent: .random(in: -120...120, using: &random), significand: 7))
    case 5:
      let seconds = Double(bitPattern: .random(in: 0 ... .max, using: &random))
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    case 6: return .data(Data(repeating: 1, count: .random(in: 0..<10_000, using: &random)))
    case 7: return .uuid(UUID())
    case 8, 9:
      let count = Int.random(in: 0..<500, using: &random)
      var text = String.UnicodeScalarView()
      for _ in 0..<count {
        if let scalar = Unicode.Scalar(UInt32.random(in: 0..<0x3000, using: &random)) { text.append(scalar) }
      }
      return level % 2 == 0 ? .string(String(text)) : .uri(String(text))
    default:
      let count = Int.random(in: 0..<6, using: &random)
      let elements = (0..<count).map { ("element\($0)", value(&random, level: level + 1)) }
      return .composite(Dictionary(uniqueKeysWithValues: elements))
    }
  }
}
