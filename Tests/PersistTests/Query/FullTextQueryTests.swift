import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Full-text queries")
struct FullTextQueryTests {
  @Test(
    "An error states the place",
    arguments: [
      ("", 1), ("tea AND", 8), ("(tea", 5), ("tea)", 4), ("tea (cup)", 5), ("AND tea", 1), ("\"tea", 1), ("tea +", 6),
      ("*", 1), ("NEAR(tea, x)", 11), ("NEAR(tea", 9), ("title:tea", 6), ("tea 'cup'", 5), ("é NOT", 6),
    ])
  func place(query: String, column: Int) {
    let error = persistError { _ = try FullTextQuery(query) }
    #expect(error?.code == .invalidPredicate && error?.place.column == column)
  }

  @Test("Accepted queries are those that SQLite accepts", .law("full-text-queries", short: 20_000, long: 500_000))
  func grammar() throws {
    let parts = [
      "tea", "cup", "AND", "OR", "NOT", "NEAR", "NEAR(", "(", ")", "\"a b\"", "\"\"", "*", "^", "+", ",", "5", " ", " ",
      "é", "'", ";", "near", "and",
    ]
    let connection = try SQLiteConnection(nil, mode: .memory)
    defer { connection.close() }
    try connection.execute(.createSingleText(.words))
    var taken = 0
    let count = forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let query = (0...Int.random(in: 0...7, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }
        .joined(separator: Bool.random(using: &random) ? " " : "")
      let passes = (try? FullTextQuery(query)) != nil
      let isTaken = (try? connection.all(.singleTextMatches(.words, query)) { _ in true }) != nil
      #expect(passes == isTaken, "\(query)")
      if isTaken { taken += 1 }
    }
    #expect(taken > count / 20 || count < 1000)
  }

  @Test("Text typed by a user becomes a query that can always be parsed")
  func words() throws {
    for typed in [
      "green tea", "\"quoted", "a:b AND (", "", "  ", "*", "x\0y", "l'été",
      "a\"\u{301}b", "\u{301}\"\u{200D}", "a\0\u{301}b",
    ] {
      for isPrefix in [false, true] {
        let query = FullTextQuery(words: typed, lastIsPrefix: isPrefix)
        try #expect(FullTextQuery(query.text) == query)
      }
    }
    #expect(FullTextQuery(words: "green te", lastIsPrefix: true).text == "\"green\" \"te\"*")
  }

  @Test("Deep and long queries end in an error")
  func limits() {
    for query in [
      String(repeating: "(", count: 5000) + "x", String(repeating: "x ", count: 20_000),
      Array(repeating: "x", count: 500).joined(separator: " NOT "),
    ] {
      #expect(persistError { _ = try FullTextQuery(query) }?.code == .invalidPredicate)
    }
  }

  @Test("Search settings are written to the user info and read back")
  func userInfo() {
    for search in [FullTextSearch.words, .stems, .trigrams, FullTextSearch(.words, prefixLengths: [3, 2, 2])] {
      #expect(FullTextSearch(search.description) == search)
    }
    #expect(FullTextSearch("YES") == .words && FullTextSearch("words prefix 2 3")?.prefixLengths == [2, 3])
    for text in ["", "other", "words prefix", "words prefix 0", "words 2", "words prefix 2 x"] {
      #expect(FullTextSearch(text) == nil)
    }
  }
}
