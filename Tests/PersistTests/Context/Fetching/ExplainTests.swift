import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Explaining requests")
struct ExplainTests {
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Item",
      attributes: [
        AttributeDescription("name", .string), AttributeDescription("price", .double),
        AttributeDescription("note", .string),
      ],
      indexes: [FetchIndexDescription("byName", on: "name")])
  ])

  private func explain(_ format: String, sortedBy key: String? = nil) throws -> FetchExplanation {
    var explanation: FetchExplanation?
    try withStack(Self.model) { stack in
      var request = try FetchRequest("Item", where: format)
      request.sortDescriptors = key.map { [.init($0)] } ?? []
      explanation = try stack.context().explain(request)
    }
    return try #require(explanation)
  }

  private typealias Missing = FetchExplanation.MissingIndex

  @Test(
    "A request served by an index lacks none, and shows its statement with the values",
    .aboutFiles("SQLite's plans"))
  func served() throws {
    let explanation = try explain("name BEGINSWITH 'it''s' AND price > 2".replacing("''", with: "\\'"))
    #expect(explanation.missingIndexes == [])
    #expect(explanation.askedInMemory == nil)
    let statement = try #require(explanation.statements.first)
    #expect(statement.sql.hasPrefix("SELECT ") && statement.sql.contains("FROM ZITEM"))
    #expect(statement.values.contains("'it''s'"), "\(statement.values)")
    #expect(statement.plan.contains { $0.contains("USING INDEX") }, "\(statement.plan)")
    #expect(!statement.walksThroughTable)
    #expect(explanation.description.contains("plan: SEARCH"), "\(explanation)")
  }

  @Test("A scan of all rows names the attributes that an index could be used for")
  func walks() throws {
    #expect(
      try explain("price == 5").missingIndexes == [Missing(entity: "Item", attribute: "price", purpose: .finding)])
    #expect(
      try explain("price > 5 OR note IN {'a', 'b'}").missingIndexes.map(\.attribute) == ["price", "note"])
    #expect(try explain("price == 5").description.contains("missing index: Item.price, to find rows"))
    #expect(try explain("note BEGINSWITH[n] 'x'").missingIndexes.map(\.attribute) == ["note"])
    // No index serves these, so none is missing.
    for format in ["note CONTAINS 'x'", "note ==[c] 'x'", "NOT note == 'x'", "note == 'x' OR note CONTAINS 'y'"] {
      let explanation = try explain(format)
      #expect(explanation.missingIndexes == [], "\(format)")
      #expect(explanation.statements.first?.walksThroughTable == true, "\(format)")
    }
  }

  @Test("Sorting without an index names the attribute")
  func sorts() throws {
    #expect(
      try explain("TRUEPREDICATE", sortedBy: "price").missingIndexes
        == [Missing(entity: "Item", attribute: "price", purpose: .sorting)])
    #expect(try explain("TRUEPREDICATE", sortedBy: "name").missingIndexes == [])
  }

  @Test(
    "Rows of values are explained by the statement that computes them, or by the one that finds the objects",
    .aboutFiles("what SQLite computes"))
  func rows() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      var request = FetchRequest<FetchedRow>("Item", sortedBy: "total")
      request.propertiesToGroupBy = ["name"]
      request.propertiesToFetch = ["name", ExpressionDescription("total", .function(.sum, [.key("price")]))]
      request.predicate = try FetchPredicate("note == 'x'")
      let grouped = try context.explain(request)
      #expect(grouped.statements.map { $0.sql.contains("GROUP BY") } == [true], "\(grouped)")
      #expect(grouped.statements.first?.values == ["'x'"])
      #expect(grouped.missingIndexes == [Missing(entity: "Item", attribute: "note", purpose: .finding)])
      request.predicate = try FetchPredicate("note <[l] 'x'")
      let computed = try context.explain(request)
      #expect(computed.askedInMemory != nil && computed.statements.map { $0.sql.contains("GROUP BY") } == [false])
    }
  }

  @Test("Conditions evaluated in memory are reported")
  func inMemory() throws {
    let explanation = try explain("name <[l] 'x' AND price == 1")
    #expect(explanation.askedInMemory?.format == #"name <[l] "x""#)
    #expect(explanation.description.contains(#"in memory: name <[l] "x""#))
  }
}
