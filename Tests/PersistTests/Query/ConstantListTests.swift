import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// The law: a long list has the same results as comparing with each of its values.
@Suite("Long lists of constants")
struct ConstantListTests {
  private static let id = ManagedObjectID(entityName: "Item", storeIdentifier: "A", key: .permanent(1))
  private static let values: [StoredValue] = [
    .null, .boolean(true), .boolean(false), .integer(0), .integer(1), .integer(5), .integer(.max), .integer(.min),
    .integer(9_007_199_254_740_993), .double(0), .double(-0.0), .double(1), .double(0.1), .double(5.5),
    .double(9_007_199_254_740_992), .double(1e120), .double(1e-120), .double(.infinity), .double(.nan),
    .decimal(Decimal(string: "0.1") ?? 0), .decimal(5), .decimal(Decimal(string: "9007199254740993") ?? 0),
    .decimal(Decimal(sign: .plus, exponent: 120, significand: 1)), .decimal(Decimal(string: "1e-120") ?? 0),
    .decimal(.nan), .date(Date(timeIntervalSinceReferenceDate: 5)), .date(Date(timeIntervalSinceReferenceDate: 0.1)),
    .string("5"), .string("0.1"), .string("1e120"), .string("tea"), .string("TEA"), .string("é"),
    .string("e\u{301}"), .string(""), .uri("tea"), .uri("5"), .string("E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
    .string("e621e1f8-c36c-495a-93fc-0c247a3e6e5f"),
    .uuid(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") ?? UUID()), .data(Data()), .data(Data([1])),
    .objectID(id), .objectID(ManagedObjectID(temporaryFor: "Item")), .composite([:]),
    .composite(["x": .double(1)]), .composite(["x": .integer(1), "y": .null]),
  ]

  @Test("Random lists and values", .law("constant-lists", short: 600, long: 500_000))
  func agreement() throws {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      let list = (0..<20).compactMap { _ in Self.values.randomElement(using: &random) }
      let options = try #require(
        ([[], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive], .normalized]
          as [FetchPredicate.Options]).randomElement(using: &random))
      let predicate = FetchPredicate.compare(
        .current, .in, .aggregate(list.map(FetchExpression.constant)), options: options)
      let evaluator = ExpressionEvaluator()
      for value in Self.values {
        let expected = list.contains { $0.isSame(as: value, options: options) }
        #expect(try evaluator.matches(predicate, .value(value)) == expected, "\(value) in \(list)")
      }
    }
  }

  @Test("A list isn't scanned for each object")
  func cost() throws {
    let evaluator = ExpressionEvaluator()
    let list = (0..<20_000).map { FetchExpression.constant(.string("name\($0)")) }
    let predicate = FetchPredicate.compare(.current, .in, .aggregate(list))
    // Scanning it would take 400 million comparisons.
    var found = 0
    for number in 0..<20_000 where try evaluator.matches(predicate, .value(.string("name\(number * 2)"))) { found += 1 }
    #expect(found == 10_000)
  }
}
