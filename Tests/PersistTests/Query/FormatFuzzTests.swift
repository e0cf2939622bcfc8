import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// Random format strings: the parser returns a tree that can be printed and parsed again, or an error.
@Suite("Random format strings")
struct FormatFuzzTests {
  private static let pieces = [
    "a", "b.c", "SELF", "$x", "1", "-1", "2.5", "'t'", "\"", "'", "(", ")", "{", "}", "[", "]", ",", ".", "==", "=",
    "!=",
    "<", ">", "<=", "AND", "OR", "NOT", "!", "&&", "||", "&", "|", "^", "~", "+", "-", "*", "**", "/", "%%", "%@",
    "%K", "%d",
    "%1$@", "IN", "CONTAINS", "[cd]", "BETWEEN", "LIKE", "MATCHES", "ANY", "ALL", "NONE", "SUBQUERY(", "TERNARY(",
    "CAST(",
    "FUNCTION(", "FETCH(", "abs:(", "now()", "max:(", "@count", "@sum", "#in", "#\"x y\"", "nil", "YES",
    "TRUEPREDICATE",
    "FIRST", "UNION", "<<", ">>", ":=", "\\", "\\u", "0x", "1e", "\u{301}", "é", "😀", "\u{0}", "\n", "$", "#", "@",
    "%", ":",
    "CAST('1', 'NSDecimalNumber')", "a == 1", "b ==[c] 'x'", "ANY a.b > 2", "(a == 1)", "{1, 2}", "[0]", "[FIRST]",
  ]

  @Test("Random pieces make a tree that prints back or an error", .law("format-pieces", short: 20_000, long: 1_000_000))
  func pieces() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let count = Int.random(in: 1...14, using: &random)
      let format = (0..<count).map { _ in
        (Self.pieces.randomElement(using: &random) ?? "") + (Bool.random(using: &random) ? " " : "")
      }.joined()
      try check(format)
    }
  }

  @Test(
    "Samples with random changes make a tree that prints back, or an error",
    .law("format-changes", short: 20_000, long: 1_000_000))
  func mutations() {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let sample = FormatSamples.all.randomElement(using: &random) ?? ""
      var characters = Array(sample.unicodeScalars)
      for _ in 0..<Int.random(in: 1...3, using: &random) where !characters.isEmpty {
        let index = Int.random(in: 0..<characters.count, using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: characters.remove(at: index)
        case 1: characters.insert(characters[Int.random(in: 0..<characters.count, using: &random)], at: index)
        case 2: characters.swapAt(index, Int.random(in: 0..<characters.count, using: &random))
        default:
          let piece = Self.pieces.randomElement(using: &random) ?? ""
          characters.insert(contentsOf: Array(piece.unicodeScalars), at: index)
        }
      }
      var text = String.UnicodeScalarView()
      text.append(contentsOf: characters)
      try check(String(text))
    }
  }

  private let inner = Record(["c": 2, "b": 1.5], key: 1)

  private func check(_ format: String) throws {
    let record = Record(["a": 5, "b": .object(inner), "in": "t", "k": [1, 2], "name": "Tea", "x y": nil], key: 2)
    do {
      let tree = try FetchPredicate(format, arguments: format.contains("%") ? ["k", "k", "k"] : [])
      let printed = tree.format
      #expect(try FetchPredicate(printed) == tree, "\(format) → \(printed)")
      _ = try? ExpressionEvaluator(variables: ["x": .object(inner)]).matches(tree, .object(record))
    } catch let error as PersistenceError {
      #expect([.invalidPredicate, .limitExceeded].contains(error.code), "\(format)")
    }
  }
}

/// Random numbers that are the same in every run.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state &* 0x2545_F491_4F6C_DD1D
  }
}
