import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Dictionary results")
struct DictionaryTests {
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Employee",
      attributes: [
        AttributeDescription("name", .string), AttributeDescription("salary", .int32),
        AttributeDescription("rate", .decimal), AttributeDescription("isActive", .boolean),
        AttributeDescription("score", .double), AttributeDescription("since", .date),
        AttributeDescription("photo", .binary, allowsExternalStorage: true),
        AttributeDescription("big", .int64), AttributeDescription("memory", .string, isTransient: true),
      ],
      relationships: [RelationshipDescription("department", to: "Department", inverse: "employees")]),
    EntityDescription("Manager", parent: "Employee", attributes: [AttributeDescription("level", .int32)]),
    EntityDescription(
      "Department", attributes: [AttributeDescription("name", .string)],
      relationships: [
        RelationshipDescription("employees", toMany: "Employee", inverse: "department"),
        RelationshipDescription("head", to: "Employee", inverse: nil),
      ]),
  ])

  private func rows(
    _ context: ManagedObjectContext, _ entity: String, _ columns: [ExpressionDescription],
    by groups: [ExpressionDescription] = [], _ change: (inout FetchRequest<FetchedRow>) throws -> Void = { _ in }
  ) throws -> [FetchedRow] {
    var request = FetchRequest<FetchedRow>(entity)
    request.propertiesToFetch = columns
    request.propertiesToGroupBy = groups
    try change(&request)
    return try context.fetch(request)
  }

  @Test("Results are always the saved values, never pending ones (DIC-01)")
  func saved() throws {
    try withDirtyPeople { context in
      let found = try rows(context, "Person", ["name", "salary"]) {
        $0.predicate = try FetchPredicate("salary > 20")
        $0.sortDescriptors = [.init("name")]
      }
      #expect(found.map { $0["name"] as? String } == ["alpha", "bravo"])
      #expect(found.map { $0["salary"] as? Int } == [22, 25])
    }
  }

  @Test("By default, every attribute is a column, and no relationship; a missing value has no key (DIC-02)")
  func allAttributes() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let department = try context.make("Department", ["name": "Sales"])
      let day = Date(timeIntervalSinceReferenceDate: 1000)
      try context.make(
        "Employee",
        [
          "name": "Ann", "salary": 5, "rate": Decimal(string: "1.10"), "isActive": true, "score": 2.5, "since": day,
          "department": department,
        ])
      try context.save()
      let found = try #require(try rows(stack.context(), "Employee", []).first)
      #expect(Set(found.keys) == ["name", "salary", "rate", "isActive", "score", "since"])
      #expect(found["isActive"] as? Bool == true && found["rate"] as? Decimal == Decimal(string: "1.1"))
      #expect(found["since"] as? Date == day && found["score"] as? Double == 2.5 && found["big"] == nil)
    }
  }

  @Test(
    "Rows and groups have every digit of a decimal, as objects do",
    arguments: [
      "145992.69999999998", "0.3000000000000001", "1.000000000000001", "12345678901234567", "9007199254740993.5",
      "1.2345678901234567e-30", "12345678901234567890.12",
    ])
  func decimals(text: String) throws {
    try withStack(Self.model) { stack in
      let number = try #require(Decimal(string: text))
      let context = stack.context()
      try context.make("Employee", ["rate": number])
      try context.save()
      let reader = try stack.reopened().context()
      let count = ExpressionDescription("count", .key("@count"))
      try #expect(rows(reader, "Employee", ["rate"]).map { $0["rate"] as? Decimal } == [number])
      try #expect(rows(reader, "Employee", ["rate", count], by: ["rate"]).map { $0["rate"] as? Decimal } == [number])
      try #expect(reader.fetch(FetchRequest("Employee")).map { $0["rate"] as? Decimal } == [number])
    }
  }

  @Test("A sum over all rows is one row, computed by the store (DIC-04)")
  func total() throws {
    try withDirtyPeople { context in
      let total = ExpressionDescription("total", .function(.sum, [.key("salary")]))
      try #expect(rows(context, "Person", [total]).map { $0["total"] as? Int } == [57])
      let none = try rows(context, "Person", [total]) { $0.predicate = .constant(false) }
      #expect(none.map { $0["total"] as? Int } == [0])
    }
  }

  private func seed(_ context: ManagedObjectContext) throws {
    let sales = try context.make("Department", ["name": "Sales"])
    let research = try context.make("Department", ["name": "R"])
    for (name, salary, department) in [("a", 10, sales), ("b", 10, sales), ("c", 20, research)] {
      try context.make(
        "Employee",
        [
          "name": name, "salary": salary, "department": department, "rate": Decimal(salary) / 4,
          "isActive": salary == 10, "score": Double(salary) / 2,
        ])
    }
    try context.make("Manager", ["name": "m", "salary": 30, "level": 1])
    sales["head"] = try context.named("Employee", "m")
    try context.save()
  }

  @Test("Groups, with counts, conditions on groups, and sorting by a column (DIC-05)")
  func groups() throws {
    try withStack(Self.model) { stack in
      try seed(stack.context())
      let context = stack.context()
      let count = ExpressionDescription("count", .function(.count, [.key("name")]))
      var found = try rows(context, "Employee", ["salary", count], by: ["salary"])
      #expect(Set(found.map { "\($0["salary"] as? Int ?? 0):\($0["count"] as? Int ?? 0)" }) == ["10:2", "20:1", "30:1"])
      for condition in ["count > 1", "$count > 1", "count:(name) > 1", "@count > 1 AND salary < 20"] {
        found = try rows(context, "Employee", ["salary", count], by: ["salary"]) {
          $0.havingPredicate = try FetchPredicate(condition)
        }
        #expect(found.map { $0["salary"] as? Int } == [10], "\(condition)")
        #expect(found.first?.keys == ["salary", "count"])
      }
      let error = persistError {
        _ = try rows(context, "Employee", ["salary", count], by: ["salary"]) {
          $0.havingPredicate = try FetchPredicate("length:(name) > 1 OR count > 0")
        }
      }
      #expect(error?.code == .invalidRequest && error?.place.property == "name")
      found = try rows(context, "Employee", ["salary", count], by: ["salary"]) {
        $0.sortDescriptors = [.init("count"), .init("salary", isAscending: false)]
        $0.fetchLimit = 2
        $0.fetchOffset = 1
      }
      #expect(found.map { $0["salary"] as? Int } == [20, 10])
      found = try rows(context, "Employee", ["department.name", count], by: ["department.name"]) {
        $0.sortDescriptors = [.init("department.name")]
      }
      #expect(found.map { $0["department.name"] as? String } == [nil, "R", "Sales"])
      #expect(found.map { $0["count"] as? Int } == [1, 1, 2])
    }
  }

  @Test("Aggregates of every kind in one row, including those that SQL can't compute exactly")
  func aggregates() throws {
    try withStack(Self.model) { stack in
      try seed(stack.context())
      let context = stack.context()
      let columns: [ExpressionDescription] = [
        ExpressionDescription("active", .key("@sum.isActive")), ExpressionDescription("count", .key("@count")),
        ExpressionDescription("max", .key("@max.salary")),
        ExpressionDescription("min", .function(.minimum, [.key("name")])),
        ExpressionDescription("mean", .function(.average, [.key("salary")])),
      ]
      for further in [[], [ExpressionDescription("rate", .function(.average, [.key("rate")]))]] {
        let found = try #require(try rows(context, "Employee", columns + further).first)
        #expect(found["active"] as? Int == 2 && found["count"] as? Int == 4 && found["max"] as? Int == 30)
        #expect(found["min"] as? String == "a" && found["mean"] as? Double == 17.5)
        if !further.isEmpty { #expect(found["rate"] as? Decimal == Decimal(40) / 4 / 3) }
      }
    }
  }

  @Test("A sum that exceeds 64 bits continues as a floating-point number")
  func overflow() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      for _ in 0..<2 { try context.make("Employee", ["big": Int64.max]) }
      try context.save()
      let sum = ExpressionDescription("sum", .function(.sum, [.key("big")]))
      try #expect(rows(context, "Employee", [sum]).first?["sum"] as? Double == 2 * Double(Int64.max))
    }
  }

  @Test("A to-one relationship is its object's identifier, with its own entity; so is the object itself (DIC-07)")
  func identifiers() throws {
    try withStack(Self.model) { stack in
      try seed(stack.context())
      let context = stack.context()
      let head = try context.named("Employee", "m")
      let found = try rows(context, "Department", ["name", "head", .objectID]) { $0.sortDescriptors = [.init("name")] }
      #expect(found.map { $0["head"] as? ManagedObjectID } == [nil, head.objectID])
      #expect((found[1]["head"] as? ManagedObjectID)?.entityName == "Manager")
      try #expect(found[1]["objectID"] as? ManagedObjectID == context.named("Department", "Sales").objectID)
      let all = try rows(context, "Employee", [.objectID]).compactMap { $0["objectID"] as? ManagedObjectID }
      try #expect(Set(all) == Set(context.fetchObjectIDs(FetchRequest("Employee"))))
    }
  }

  @Test("Rows are sorted by a computed column's numbers, whole or not")
  func mixedNumbers() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      for (name, score) in [("A", nil), ("B", -5), ("C", 3), ("D", 0.5), ("E", nil)] as [(String, Double?)] {
        try context.make("Employee", ["score": score, "department": context.make("Department", ["name": name])])
      }
      try context.save()
      let total = ExpressionDescription("total", .function(.sum, [.key("score")]))
      for (isAscending, expected) in [(true, ["B", "A", "E", "D", "C"]), (false, ["C", "D", "A", "E", "B"])] {
        let found = try rows(stack.context(), "Employee", ["department.name", total], by: ["department.name"]) {
          $0.sortDescriptors = [.init("total", isAscending: isAscending)]
        }
        #expect(found.map { $0["department.name"] as? String } == expected)
      }
    }
  }

  @Test("Distinct rows if requested; the limit then applies to those")
  func distinct() throws {
    try withStack(Self.model) { stack in
      try seed(stack.context())
      let found = try rows(stack.context(), "Employee", ["salary"]) {
        $0.returnsDistinctResults = true
        $0.sortDescriptors = [.init("salary", isAscending: false)]
        $0.fetchLimit = 3
      }
      #expect(found.map { $0["salary"] as? Int } == [30, 20, 10])
    }
  }

  @Test("Values of the requested type; computed values; texts of a large value's file")
  func computed() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      try context.make("Employee", ["name": "Ann", "salary": 3, "photo": Data(repeating: 7, count: 200_000)])
      try context.save()
      let columns: [ExpressionDescription] = [
        ExpressionDescription("double", try FetchExpression("salary * 2"), resultType: .double),
        ExpressionDescription("upper", try FetchExpression("uppercase:(name)")), "photo",
      ]
      let found = try #require(try rows(stack.context(), "Employee", columns).first)
      #expect(found["double"] as? Double == 6 && found["upper"] as? String == "ANN")
      #expect((found["photo"] as? Data)?.count == 200_000)
    }
  }

  @Test("Computed columns have the evaluator's types: Booleans are no numbers")
  func computedBooleans() throws {
    try withStack(Self.model) { stack in
      try seed(stack.context())
      let context = stack.context()
      for (entity, formats) in [
        "Employee": [
          "TERNARY(salary < 15, YES, NO)", "TERNARY(salary < 15, isActive, NO)", "noindex:(isActive)",
          "TERNARY(salary < 15, noindex:(isActive), isActive)", "TERNARY(salary < 15, isActive, 5)",
          "TERNARY(salary < 15, isActive, score)", "TERNARY(salary < 15, 1, 0)", "isActive + 1",
          "CAST(isActive, 'NSNumber')", "TERNARY(salary < 15, TERNARY(name == 'a', YES, isActive), 7)",
        ],
        "Department": [
          "employees.@max.isActive", "employees.@min.isActive", "employees.@sum.isActive", "employees.@max.salary",
          "head.isActive", "TERNARY(name == 'R', employees.@max.isActive, NO)",
          "TERNARY(name == 'R', employees.@max.isActive, employees.@max.salary)",
        ],
      ] {
        for format in formats {
          let expression = try FetchExpression(format)
          let found = try rows(context, entity, [ExpressionDescription("value", expression)]) {
            $0.sortDescriptors = [.init("name")]
          }
          let expected = try context.fetch(FetchRequest(entity, sortedBy: "name")).map { object in
            try expression.value(for: object).stored ?? .null
          }
          #expect(found.map { $0.storedValue(forKey: "value") ?? .null } == expected, "\(format)")
        }
      }
    }
  }

  @Test("A to-many relationship, an unknown key and a value not shared by a group are errors (DIC-07)")
  func refused() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      let count = ExpressionDescription("count", .key("@count"))
      #expect(persistError { _ = try rows(context, "Department", ["employees"]) }?.code == .invalidRequest)
      #expect(persistError { _ = try rows(context, "Department", ["nothing"]) }?.code == .unknownProperty)
      #expect(persistError { _ = try rows(context, "Employee", ["name", count]) }?.code == .invalidRequest)
      let grouped = persistError { _ = try rows(context, "Employee", ["name", count], by: ["salary"]) }
      #expect(grouped?.code == .invalidRequest)
      let sorted = persistError {
        _ = try rows(context, "Employee", [count], by: ["salary"]) { $0.sortDescriptors = [.init("name")] }
      }
      #expect(sorted?.code == .unknownProperty)
    }
  }
}
