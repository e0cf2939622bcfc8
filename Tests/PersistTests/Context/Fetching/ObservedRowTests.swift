import Foundation
import Testing

@testable import Persist
@testable import PersistModel

/// Core Data's observed dictionaries, over five rows of every kind of value.
@Suite("Rows of values, as observed")
struct ObservedRowTests {
  private static let series = ModelDescription(entities: [
    EntityDescription(
      "TestEntity1",
      attributes: [
        AttributeDescription("id", .int32), AttributeDescription("number", .int64),
        AttributeDescription("boolean", .boolean), AttributeDescription("decimal", .decimal),
        AttributeDescription("string", .string), AttributeDescription("data", .binary),
        AttributeDescription("date", .date), AttributeDescription("none", .string),
      ])
  ])

  private func day(_ number: Int) -> Date {
    // 2000-01-01 is 366 days before the reference date.
    Date(timeIntervalSinceReferenceDate: Double(number - 367) * 86400)
  }

  private func withSeries(_ body: (ManagedObjectContext) throws -> Void) throws {
    try withStack(Self.series) { stack in
      let context = stack.context()
      for n in 1...5 {
        let text = "nil:TestEntity1:\(n)"
        try context.make(
          "TestEntity1",
          [
            "id": 100 + n, "number": n, "boolean": !n.isMultiple(of: 2), "decimal": Decimal(n), "string": text,
            "data": Data(text.utf8), "date": day(n),
          ])
      }
      try context.save()
      try body(stack.context())
    }
  }

  @Test("DIC-08: values have their types, a nil value has no key, the object itself is its identifier")
  func typedValues() throws {
    try withSeries { context in
      var request = try FetchRequest<FetchedRow>("TestEntity1", where: "number > 3", sortedBy: [.init("id")])
      let rows = try context.fetch(request)
      #expect(rows.count == 2)
      for (n, row) in zip([4, 5], rows) {
        #expect(Set(row.keys) == ["id", "number", "boolean", "decimal", "string", "data", "date"])
        #expect(row["id"] as? Int == 100 + n && row["number"] as? Int == n && row["boolean"] as? Bool == (n == 5))
        #expect(row["decimal"] as? Decimal == Decimal(n) && row["date"] as? Date == day(n))
        let text = "nil:TestEntity1:\(n)"
        #expect(row["string"] as? String == text && row["data"] as? Data == Data(text.utf8))
      }
      request.propertiesToFetch = [.objectID]
      let ids = try context.fetch(request).map { $0["objectID"] as? ManagedObjectID }
      #expect(try ids == context.fetchObjectIDs(request))
    }
  }

  @Test("DIC-10: five aggregates over all rows are one row")
  func aggregates() throws {
    try withSeries { context in
      var request = FetchRequest<FetchedRow>("TestEntity1")
      request.propertiesToFetch = [
        ExpressionDescription("sum", .function(.sum, [.key("boolean")])),
        ExpressionDescription("count", .function(.count, [.key("number")])),
        ExpressionDescription("max", .function(.maximum, [.key("number")])),
        ExpressionDescription("min", .function(.minimum, [.key("number")])),
        ExpressionDescription("average", .function(.average, [.key("decimal")])),
      ]
      let rows = try context.fetch(request)
      let row = try #require(rows.first)
      #expect(rows.count == 1 && row["sum"] as? Int == 3 && row["count"] as? Int == 5)
      #expect(row["max"] as? Int == 5 && row["min"] as? Int == 1 && row["average"] as? Decimal == 3)
    }
  }

  @Test("DIC-02: an in-memory store also returns rows, of saved values")
  func inMemory() throws {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
    try coordinator.addInMemoryStore()
    let context = ManagedObjectContext(coordinator)
    let xray = try context.make("Person", ["name": "xray", "salary": 22])
    let yankee = try context.make("Person", ["name": "yankee", "salary": 10])
    try context.save()
    yankee["salary"] = 21
    context.delete(xray)
    try context.make("Person", ["name": "zulu", "salary": 30])
    var request = try FetchRequest<FetchedRow>("Person", where: "salary > 20")
    request.propertiesToFetch = ["name"]
    let rows = try context.fetch(request)
    #expect(rows.map(\.keys) == [["name"]] && rows.first?["name"] as? String == "xray")
  }
}
