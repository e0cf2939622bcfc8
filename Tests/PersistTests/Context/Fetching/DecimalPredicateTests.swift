import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Decimals in predicates")
struct DecimalPredicateTests {
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Sample", attributes: [AttributeDescription("value", .decimal), AttributeDescription("rate", .double)])
  ])

  @Test("Decimals of every magnitude are found by their values, in SQL as in memory", arguments: [
    "7e100", "1e127", "-1e127", "1.5e100", "1e-127", "7e-128", "-3e-101", "12345678901234567e111", "1e99", "3e-100",
  ])
  func magnitudes(text: String) throws {
    try withStack(Self.model) { stack in
      let number = try #require(Decimal(string: text))
      // Halves and doubles of the smallest numbers aren't decimals.
      let isSmall = abs(number) < 1
      let (low, high) = isSmall ? (0, 1) : (abs(number) / 2, abs(number) * 2)
      let (less, more) = number < 0 ? (-high, -low) : (low, high)
      let context = stack.context()
      try context.make("Sample", ["value": number])
      try context.make("Sample", ["value": 1])
      try context.save()
      let reader = try stack.reopened().context()
      for (format, bounds) in [
        ("value == %@", [number]), ("value >= %@ AND value <= %@", [number, number]), ("value IN %@", [number]),
        ("value > %@ AND value < %@", [less, more]),
      ] {
        let arguments: [Any] = format.hasSuffix("IN %@") ? [bounds] : bounds
        var request = FetchRequest("Sample")
        let predicate = try FetchPredicate(format: format, argumentArray: arguments)
        request.predicate = predicate
        let found = try reader.fetch(request)
        #expect(found.map { $0["value"] as? Decimal } == [number], "\(format)")
        let inMemory = try reader.fetch(FetchRequest("Sample")).filter { try predicate.evaluate(with: $0) }
        #expect(inMemory == found, "\(format)")
      }
    }
  }

  @Test("A choice between a decimal and another number computes as the chosen number does", arguments: [
    "TERNARY(value != nil, value, 5) / 2 == 2", "TERNARY(1 == 1, rate, value) * 3 == 0.3",
    "-TERNARY(value == nil, 7, value) / 2 == -3", "TERNARY(value == nil, 5, value) + 1 == 6",
    "TERNARY(value == nil, rate, value) == 0.1", "TERNARY(value == nil, 5, value) BETWEEN {4, 5}",
    "TERNARY(rate == 0.1, TERNARY(value == nil, rate, value), 3) / 2 == 0.05",
  ])
  func choices(format: String) throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      for (value, rate) in [(nil, 0.1), ("5", 0.1), ("0.1", nil), ("4", 3), (nil, 2)] as [(String?, Double?)] {
        try context.make("Sample", ["value": value.flatMap { Decimal(string: $0) }, "rate": rate])
      }
      try context.save()
      let reader = try stack.reopened().context()
      let predicate = try FetchPredicate(format)
      let expected = try reader.fetch(FetchRequest("Sample")).filter { try predicate.evaluate(with: $0) }
      try #expect(reader.fetch(FetchRequest("Sample", where: format)) == expected)
    }
  }

  @Test("A column that chooses between a decimal and another number has the type of the chosen one")
  func chosenColumn() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      for value in [nil, 1.5] as [Decimal?] { try context.make("Sample", ["value": value, "rate": 2.5]) }
      try context.save()
      var request = FetchRequest<FetchedRow>("Sample")
      request.propertiesToFetch = [
        ExpressionDescription("whole", try FetchExpression("TERNARY(value == nil, 5, value)")),
        ExpressionDescription("double", try FetchExpression("TERNARY(value == nil, rate, value)")),
      ]
      let rows = try stack.reopened().context().fetch(request)
      try #require(rows.count == 2)
      #expect(rows[0].storedValue(forKey: "whole") == .integer(5))
      #expect(rows[0].storedValue(forKey: "double") == .double(2.5))
      for name in ["whole", "double"] { #expect(rows[1].storedValue(forKey: name) == .decimal(1.5)) }
    }
  }

  @Test("A decimal argument of a floating-point placeholder is the nearest double", arguments: [
    "145992.69999999998", "0.1", "123456789.123456789", "1e23", "2.5e-7",
  ])
  func doubles(text: String) throws {
    try withStack(Self.model) { stack in
      let (number, double) = (try #require(Decimal(string: text)), try #require(Double(text)))
      let context = stack.context()
      let sample = try context.make("Sample", ["rate": double, "value": number])
      try context.save()
      let predicate = try FetchPredicate(format: "rate == %f", argumentArray: [number])
      #expect(try context.count("Sample", matching: predicate) == 1 && predicate.evaluate(with: sample))
    }
  }
}
