import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Batch updates of integers")
struct IntegerBatchTests {
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Item",
      attributes: [
        AttributeDescription("number", .int64), AttributeDescription("least", .int64),
        AttributeDescription("rate", .double), AttributeDescription("small", .int16),
      ])
  ])

  /// Runs `body` with two items: one without values, and one whose numbers are near their limits.
  private func withItems(rate: Double, _ body: (TestStack) throws -> Void) throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      try context.make("Item")
      try context.make("Item", ["number": 6_000_000_000_000_000_000, "least": Int64.min, "rate": rate, "small": 1])
      try context.save()
      try body(stack)
    }
  }

  private static let tooLarge: [(String, Double)] = [
    ("number * 2", 0), ("number + number", 0), ("abs:(least)", 0), ("rate", 0x1p63), ("rate", 1e19),
    ("rate * 1e300", 1e19), ("-least", 0), ("least / -1", 0),
  ]
  private static let tooSmall: [(String, Double)] = [
    ("-number * 2", 0), ("least - 10000", 0), ("least * 2", 0), ("rate", -1e19), ("rate * 1e300", -1e19),
  ]

  @Test(
    "A result that an int64 attribute can't represent is refused, and nothing is changed",
    arguments: [(tooLarge, .validationNumberTooLarge), (tooSmall, .validationNumberTooSmall)]
      as [([(String, Double)], PersistenceError.Code)])
  func outOfRange(cases: [(String, Double)], code: PersistenceError.Code) throws {
    for (format, rate) in cases {
      try withItems(rate: rate) { stack in
        let update = BatchUpdateRequest("Item", set: ["number": try FetchExpression(format), "small": .value(2)])
        let error = persistError { try stack.context().execute(update) }
        #expect(error?.code == code && error?.place.property == "number", "\(format), \(rate)")
        let items = try stack.reopened().context().fetch(FetchRequest("Item"))
        #expect(items.map { $0["number"] as? Int } == [nil, 6_000_000_000_000_000_000])
        #expect(items.map { $0["small"] as? Int } == [nil, 1])
      }
    }
  }

  @Test("The least and the greatest numbers of an int64 attribute are accepted", arguments: [
    ("least", 0, .min), ("least + 0.0", 0, .min), ("rate", -0x1p63, .min), ("-(least + 1)", 0, .max),
    ("rate", 9_223_372_036_854_774_784, 9_223_372_036_854_774_784),
    ("rate", -2.75, -2), ("number / 4", 0, 1_500_000_000_000_000_000),
  ] as [(String, Double, Int)])
  func limits(format: String, rate: Double, expected: Int) throws {
    try withItems(rate: rate) { stack in
      let update = BatchUpdateRequest("Item", set: ["number": try FetchExpression(format)])
      try #expect(stack.context().execute(update).count == 2)
      let items = try stack.reopened().context().fetch(FetchRequest("Item"))
      #expect(items.map { $0["number"] as? Int } == [nil, expected])
    }
  }
}
