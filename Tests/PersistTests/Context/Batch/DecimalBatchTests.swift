import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Batch updates of decimals")
struct DecimalBatchTests {
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Book",
      attributes: [
        AttributeDescription("number", .int32), AttributeDescription("price", .decimal),
        AttributeDescription("rate", .double),
      ])
  ])

  private static let prices = [
    "0", "1", "-1", "0.1", "2.50", "19.99", "-0.07", "12345678901234567890.12", "0.000000000000000000001",
    "99999999999999999999999999999999999999", "9223372036854775807", "123456789.123456789123456789", "1e30",
  ]

  private static let expressions = [
    "price * 2", "price + 1", "price - 0.1", "price", "2", "-price", "abs:(price)", "price * price", "price / 3",
    "price / 0", "price * 1.1", "price * number", "price + rate", "TERNARY(price > 1, price, 5)",
    "TERNARY(number > 3, price * 2, 0.5)", "CAST('0.3', 'NSDecimalNumber') * price", "(price + 0.01) * 100 - price",
    "abs:(-(price - 3))",
  ]

  @Test("SQL computes what the evaluator computes, digit by digit", arguments: expressions)
  func agreement(format: String) throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      for (index, price) in Self.prices.enumerated() {
        try context.make(
          "Book", ["number": index, "price": Decimal(string: price), "rate": Double(index) / 8])
      }
      try context.make("Book", ["number": 99])
      try context.save()
      let expression = try FetchExpression(format)
      let books = try stack.context().fetch(FetchRequest("Book", sortedBy: "number"))
      let expected = try books.map { book -> Decimal? in
        guard case .value(let value) = try expression.value(for: book) else { return nil }
        return Number(value)?.decimal
      }
      let result = try context.execute(BatchUpdateRequest("Book", set: ["price": expression]))
      #expect(result.count == books.count)
      let found = try stack.reopened().context().fetch(FetchRequest("Book", sortedBy: "number"))
      for (book, expected) in zip(found, expected) {
        #expect(book["price"] as? Decimal == expected, "\(format) of \(book["number"] ?? "")")
      }
    }
  }

  @Test("Predicates compute with decimals in SQL as in memory", .aboutFiles("what SQLite computes"), arguments: [
    "price * 2 > 5", "price + 0.1 == 0.2", "-price < 0", "abs:(price) == 1", "price / 3 >= 1", "price * number <= 10",
  ])
  func predicates(format: String) throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      for (index, price) in Self.prices.enumerated() {
        try context.make("Book", ["number": index, "price": Decimal(string: price)])
      }
      try context.make("Book", ["number": 99])
      try context.save()
      let predicate = try FetchPredicate(format)
      let all = try context.fetch(FetchRequest("Book", sortedBy: "number"))
      let expected = try all.filter { try predicate.evaluate(with: $0) }.map { $0["number"] as? Int }
      let fresh = stack.context()
      let found = try fresh.fetch(FetchRequest("Book", where: format, sortedBy: [.init("number")]))
      #expect(found.map { $0["number"] as? Int } == expected && !expected.isEmpty && expected.count < all.count)
      #expect(try !fresh.explain(FetchRequest("Book", where: format)).description.contains("memory"))
    }
  }
}
