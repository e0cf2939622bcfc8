import Foundation
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Validation")
struct ValidationTests {
  @Test("VAL-01, VAL-08: a required attribute without a value: the only error is the save's error")
  func required() throws {
    try withStack(SampleModels.staff) { stack in
      let context = stack.context()
      let employee = try context.make("Employee")
      #expect(persistError { try employee.validateForInsert() }?.code == .validationMissingRequired)
      let error = try #require(persistError { try context.save() })
      #expect(error.code == .validationMissingRequired && error.place.property == "name")
      #expect(stack.store.commits.isEmpty && context.hasChanges)
      employee["name"] = "Alice"
      try context.save()
      employee["name"] = nil
      #expect(persistError { try context.save() }?.code == .validationMissingRequired)
    }
  }

  @Test("VAL-04, VAL-13: all violations are in one error")
  func several() throws {
    try withStack(SampleModels.staff) { stack in
      let context = stack.context()
      try context.make("Employee", ["salary": -1])
      #expect(persistError { try context.save() }?.errors.map(\.code) == [.validationMissingRequired, .validationNumberTooSmall])
      try context.make("Employee", ["name": "A"])
      let error = try #require(persistError { try context.save() })
      #expect(error.code == .validationMultiple && error.errors.count == 3)
      #expect(error.errors.last?.code == .validationStringTooShort)
    }
  }

  @Test("VAL-10: an optional attribute without a value isn't validated")
  func optional() throws {
    try withStack(SampleModels.staff) { stack in
      let context = stack.context()
      try context.make("Employee", ["name": "Alice"])
      try context.save()
    }
  }

  @Test("VAL-07: more objects than a relationship allows")
  func tooMany() throws {
    try withStack(SampleModels.staff) { stack in
      let context = stack.context()
      let department = try context.make("Department")
      for name in ["Ann", "Bob", "Cid"] { try context.make("Employee", ["name": name, "department": department]) }
      let error = try #require(persistError { try department.validateForInsert() })
      #expect(error.code == .validationTooManyObjects && error.place.property == "employees")
    }
  }

  @Test("Ranges, lengths and patterns have codes of their own")
  func rules() throws {
    let date = { Date(timeIntervalSinceReferenceDate: $0) }
    let model = ModelDescription(entities: [
      EntityDescription(
        "Thing",
        attributes: [
          AttributeDescription(
            "number", .double, validation: AttributeValidation(minimum: .double(1), maximum: .double(2))),
          AttributeDescription(
            "price", .decimal, validation: AttributeValidation(maximum: .decimal(10))),
          AttributeDescription(
            "day", .date, validation: AttributeValidation(minimum: .date(date(0)), maximum: .date(date(100)))),
          AttributeDescription(
            "code", .string, validation: AttributeValidation(maximumLength: 4, pattern: "[a-z]+")),
        ])
    ])
    try withStack(model) { stack in
      let context = stack.context()
      let cases: [(String, Any, PersistenceError.Code)] = [
        ("number", 0.5, .validationNumberTooSmall), ("number", 2.5, .validationNumberTooLarge),
        ("price", Decimal(11), .validationNumberTooLarge), ("day", date(-1), .validationDateTooSoon),
        ("day", date(101), .validationDateTooLate), ("code", "abcde", .validationStringTooLong),
        ("code", "ab1", .validationStringPattern),
      ]
      for (name, value, code) in cases {
        let thing = try context.make("Thing", [name: value])
        #expect(persistError { try thing.validateForInsert() }?.code == code, "\(name) \(value)")
        context.delete(thing)
      }
      try context.make("Thing", ["number": 1, "price": Decimal(10), "day": date(100), "code": "abcd"])
      try context.save()
    }
  }

  @Test("A pattern that ends in a comment is enforced")
  func commentedPattern() throws {
    let rule = AttributeValidation(pattern: "(?x) [a-z]+ # letters")
    let model = ModelDescription(entities: [
      EntityDescription("Word", attributes: [AttributeDescription("text", .string, validation: rule)])
    ])
    try withStack(model) { stack in
      let context = stack.context()
      let word = try context.make("Word", ["text": "123"])
      #expect(persistError { try word.validateForInsert() }?.code == .validationStringPattern)
      word["text"] = "abc"
      try context.save()
    }
  }

  @Test("The limits of a float are floats: a value that equals one is valid, the default too")
  func floatLimits() throws {
    let limits = AttributeValidation(minimum: .double(0.7), maximum: .double(0.8))
    let model = ModelDescription(entities: [
      EntityDescription(
        "Lamp", attributes: [AttributeDescription("level", .float, default: .double(0.7), validation: limits)])
    ])
    try withStack(model) { stack in
      let context = stack.context()
      try context.make("Lamp")
      for level in [0.7, Double(Float(0.7)), 0.75, 0.8] { try context.make("Lamp", ["level": level]) }
      try context.save()
      let cases: [(Float, PersistenceError.Code)] = [
        (Float(0.7).nextDown, .validationNumberTooSmall), (Float(0.8).nextUp, .validationNumberTooLarge),
      ]
      for (level, code) in cases {
        let lamp = try context.make("Lamp", ["level": level])
        #expect(persistError { try lamp.validateForInsert() }?.code == code, "\(level)")
        context.delete(lamp)
      }
    }
  }

  @Test("A required relationship must have a destination")
  func requiredRelationships() throws {
    let model = ModelDescription(entities: [
      EntityDescription(
        "Book",
        relationships: [
          RelationshipDescription("pages", toMany: "Page", inverse: "book", isOptional: false, minimumCount: 1)
        ]),
      EntityDescription(
        "Page", relationships: [RelationshipDescription("book", to: "Book", inverse: "pages", isOptional: false)]),
    ])
    try withStack(model) { stack in
      let context = stack.context()
      let book = try context.make("Book")
      #expect(persistError { try context.save() }?.code == .validationTooFewObjects)
      let page = try context.make("Page")
      #expect(persistError { try context.save() }?.errors.map(\.code) == [.validationTooFewObjects, .validationMissingRequired])
      page["book"] = book
      try context.save()
      context.delete(page)
      #expect(persistError { try context.save() }?.code == .validationTooFewObjects)
    }
  }

  @Test("A required to-many without a minimum count may be empty, as may an optional one with any minimum")
  func emptyToManys() throws {
    let model = ModelDescription(entities: [
      EntityDescription(
        "Chain",
        relationships: [
          RelationshipDescription("nodes", toMany: "Node", inverse: "chain", minimumCount: 2),
          RelationshipDescription("owners", toMany: "Node", inverse: "owned", isOptional: false),
        ]),
      EntityDescription(
        "Node",
        relationships: [
          RelationshipDescription("chain", to: "Chain", inverse: "nodes"),
          RelationshipDescription("owned", to: "Chain", inverse: "owners"),
        ]),
    ])
    try withStack(model) { stack in
      let context = stack.context()
      let chain = try context.make("Chain")
      try context.save()
      let first = try context.make("Node", ["chain": chain])
      #expect(persistError { try context.save() }?.code == .validationTooFewObjects)
      let second = try context.make("Node", ["chain": chain])
      try context.save()
      context.delete(first)
      #expect(persistError { try context.save() }?.code == .validationTooFewObjects)
      context.delete(second)
      try context.save()
      #expect(try stack.context().count(for: FetchRequest("Node")) == 0)
    }
  }

  @Test("VAL-14: a class's own validation throws its own error")
  func ownError() throws {
    struct TooRich: Error {}
    final class Employee: ManagedObject {
      override func validateForInsert() throws {
        try super.validateForInsert()
        if self["salary"] as? Int ?? 0 > 1_000_000 { throw TooRich() }
      }
    }
    try withStack(SampleModels.staff) { stack in
      let context = stack.context(classes: ["Employee": Employee.self])
      try context.make("Employee", ["name": "Ann", "salary": 2_000_000])
      #expect(throws: TooRich.self) { try context.save() }
    }
  }
}
