import Foundation
import Persist
import Testing

@testable import PersistModel

/// Values that are worded wrongly most easily, by the type of their attribute.
private let values: [(type: AttributeType, value: StoredValue)] = [
  (.string, .string("Tea")), (.string, .string("It's\n\"tea\"\\")),
  (.string, .string(String(repeating: "long ", count: 50))),
  (.uri, .uri("https://example.com/?q='x'")), (.int64, .integer(.min)), (.boolean, .boolean(true)),
  (.double, .double(-.infinity)), (.double, .double(1e300)), (.float, .double(0.5)),
  (.decimal, .decimal(Decimal(string: "1234567890.123456789") ?? 0)),
  (.date, .date(Date(timeIntervalSinceReferenceDate: 662_688_000))), (.date, .date(.distantPast)),
  (.uuid, .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))),
  (.binary, .data(Data(repeating: 3, count: 100))),
]

@Suite("Values in messages")
struct WordedMessageTests {
  private func model(
    _ type: AttributeType, default value: StoredValue = .null, optional: Bool = true, unique: Bool = false,
    _ validation: AttributeValidation = AttributeValidation()
  ) throws -> ManagedObjectModel {
    let attribute = AttributeDescription("a", type, isOptional: optional, default: value, validation: validation)
    let entity = EntityDescription("Item", attributes: [attribute], uniquenessConstraints: unique ? [["a"]] : [])
    return try ManagedObjectModel(ModelDescription(entities: [entity]))
  }

  private func context(_ model: ManagedObjectModel) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addInMemoryStore()
    return ManagedObjectContext(coordinator)
  }

  /// The message of the error that a body throws.
  private func message(_ body: () throws -> Void) throws -> String {
    do {
      try body()
    } catch let error as PersistenceError {
      return ([error.message] + error.errors.map(\.message)).joined(separator: " ")
    }
    throw PersistenceError(.invalidRequest, "Nothing was thrown.")
  }

  @Test("A uniqueness conflict", arguments: values)
  func unique(_ type: AttributeType, _ value: StoredValue) throws {
    guard type != .binary else { return }
    let model = try model(type, unique: true)
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addInMemoryStore()
    let message = try message {
      for _ in 1...2 {
        let context = ManagedObjectContext(coordinator)
        ManagedObject(entity: "Item", context: context)["a"] = value
        try context.save()
      }
    }
    #expect(message.hasPrefix("\(value.description) for a must be unique"), "\(message)")
  }

  @Test("A value of another type", arguments: values)
  func otherType(_ type: AttributeType, _ value: StoredValue) throws {
    let wrong: AttributeType = type == .uuid ? .date : .uuid
    let context = try context(model(wrong))
    let object = ManagedObject(entity: "Item", context: context)
    let message = try message { try object.setValue(value, forKey: "a") }
    #expect(message.contains(value.description), "\(message)")
  }

  @Test("A plan, and the comparison of a store with a model", arguments: values)
  func plans(_ type: AttributeType, _ value: StoredValue) throws {
    let (old, new) = (try model(type), try model(type, default: value, optional: false))
    let plan = try MigrationPlan(from: ModelVersion(name: "1", model: old), to: ModelVersion(name: "2", model: new))
    #expect(plan.description.contains("missing values become \(value.description)"), "\(plan)")
  }

  @Test("A limit that is exceeded: the message has the value, and the rule can be read as a predicate", arguments: [
    (AttributeType.int64, StoredValue.integer(5), StoredValue.integer(-3)),
    (.double, .double(1.5), .double(-.infinity)),
    (.date, .date(Date(timeIntervalSinceReferenceDate: 0)), .date(.distantPast)),
    (.decimal, .decimal(Decimal(2)), .decimal(Decimal(string: "-2.5") ?? 0)),
  ])
  func limits(_ type: AttributeType, _ minimum: StoredValue, _ value: StoredValue) throws {
    let context = try context(model(type, AttributeValidation(minimum: minimum)))
    ManagedObject(entity: "Item", context: context)["a"] = value
    do {
      try context.save()
      Issue.record("The value was saved.")
    } catch let error as PersistenceError {
      #expect(error.message.contains("is \(value.description), below its minimum \(minimum.description)"), "\(error)")
      let rule = try #require(error.validationFailure?.predicate)
      #expect(try !FetchPredicate(rule).evaluate(with: value), "\(rule)")
      #expect(try FetchPredicate(rule).evaluate(with: minimum), "\(rule)")
    }
  }

  @Test("A text that doesn't match a pattern with quotation marks")
  func pattern() throws {
    let context = try context(model(.string, AttributeValidation(pattern: #"it's "[a-z]+""#)))
    ManagedObject(entity: "Item", context: context)["a"] = "Tea\n"
    do {
      try context.save()
      Issue.record("The value was saved.")
    } catch let error as PersistenceError {
      #expect(error.message == #"a is 'Tea\n', which doesn't match 'it\'s "[a-z]+"'."#, "\(error)")
      let rule = try #require(error.validationFailure?.predicate)
      #expect(try FetchPredicate(rule).evaluate(with: .string(#"it's "tea""#)), "\(rule)")
    }
  }

  @Test("Whatever a value contains, predicates, explanations and plans with it are lines that a terminal only shows")
  func lines() throws {
    let odd = "a\n\u{1B}[31m\u{7}\u{9B}\u{202E}\u{2028}\u{0}" + String(repeating: "b", count: 20_000)
    func expectLines(_ text: String) {
      for line in text.split(separator: "\n") {
        #expect(line.unicodeScalars.count < 12_000 && !line.unicodeScalars.contains { $0.isInterpreted })
      }
    }
    let context = try context(model(.string))
    let request = try FetchRequest<ManagedObject>("Item", where: "a == %@ AND FUNCTION(a, 'length') > 2", odd)
    let printed = try #require(request.predicate).description
    #expect(!printed.unicodeScalars.contains { $0.isInterpreted })
    #expect(try FetchPredicate(printed) == request.predicate)
    var explanation = try context.explain(request)
    explanation.askedInMemory = nil
    expectLines(explanation.description)
    #expect(explanation.description.contains(StoredValue.string(odd).description))
    let (old, new) = (try model(.string), try model(.string, default: .string(odd), optional: false))
    try expectLines(
      MigrationPlan(from: ModelVersion(name: "1", model: old), to: ModelVersion(name: "2", model: new)).description)
    var sum = FetchExpression(forKeyPath: "a")
    for _ in 0..<1000 { sum = try FetchExpression("%@ + 1", sum) }
    let message = try message { try context.execute(BatchUpdateRequest("Item", set: ["a": sum])) }
    #expect(message.count < 1000, "\(message)")
  }

  @Test("A row of values", arguments: values)
  func rows(_ type: AttributeType, _ value: StoredValue) throws {
    let context = try context(model(type))
    ManagedObject(entity: "Item", context: context)["a"] = value
    try context.save()
    #expect(try context.fetch(FetchRequest<FetchedRow>("Item")).map(\.description) == ["[a: \(value.description)]"])
  }
}
