import Foundation
import Testing

@testable import Persist
@testable import PersistModel

/// The contents of validation errors, and the rules that classes add to those of the model.
@Suite("Validation errors and custom rules")
struct ValidationErrorTests {
  struct OwnError: Error, Equatable {
    let domain = "ValidationEmployeeDomain"
    let code = 4242
  }

  final class Employee: ManagedObject {
    override class var validators: [PropertyValidator] {
      [PropertyValidator("salary") { _, value in if value as? Int ?? 0 > 1_000_000 { throw OwnError() } }]
    }
  }

  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Employee",
      attributes: [
        AttributeDescription(
          "name", .string, isOptional: false,
          validation: AttributeValidation(
            rules: [.init(predicate: "length >= 2", warning: "Name is too short.")])),
        AttributeDescription(
          "salary", .int32, validation: AttributeValidation(rules: [.init(predicate: "SELF >= 0")])),
      ],
      relationships: [
        RelationshipDescription("boss", to: "Employee", inverse: "staff"),
        RelationshipDescription("staff", toMany: "Employee", inverse: "boss", minimumCount: 0, maximumCount: 1000),
      ])
  ])

  private func withEmployees(_ body: (ManagedObjectContext) throws -> Void) throws {
    try withStack(Self.model) { try body($0.context(classes: ["Employee": Employee.self])) }
  }

  @Test("VAL-01: a missing required value names the property and the object")
  func missing() throws {
    try withEmployees { context in
      let employee = try context.make("Employee")
      let error = try #require(persistError { try employee.validateForInsert() })
      #expect(error.code == .validationMissingRequired && error.place.property == "name")
      let failure = try #require(error.validationFailure)
      #expect(failure.key == "name" && failure.value == .null)
      #expect(failure.objectID.flatMap(context.registeredObject(for:)) === employee)
    }
  }

  @Test("VAL-02: the error of a violated rule has code, key, value, the predicate, and the model's warning as message")
  func brokenRule() throws {
    try withEmployees { context in
      let employee = try context.make("Employee", ["name": "A"])
      let error = try #require(persistError { try employee.validateForInsert() })
      #expect(error.code.rawValue == 1550 && error.message == "Name is too short.")
      #expect(error.validationFailure?.key == "name" && error.validationFailure?.value == .string("A"))
      #expect(error.validationFailure?.predicate == "length >= 2")
    }
  }

  @Test("VAL-05: a class's rule for a property throws its own error, both alone and from a save")
  func ownRule() throws {
    try withEmployees { context in
      let employee = try context.make("Employee", ["name": "Ann", "salary": 2_000_000])
      #expect(throws: OwnError()) { try employee.validateForInsert() }
      #expect(throws: OwnError()) { try context.save() }
      #expect(throws: OwnError()) { try employee.validateValue(1_000_001, forKey: "salary") }
      employee["salary"] = 1
      try context.save()
      employee["name"] = "Anna"
      try employee.validateForUpdate()
      employee["salary"] = 3_000_000
      #expect(throws: OwnError()) { try employee.validateForUpdate() }
    }
  }

  @Test("VAL-04, VAL-13: among several errors, a class's own is listed unchanged")
  func several() throws {
    try withEmployees { context in
      try context.make("Employee", ["salary": 2_000_000])
      try context.make("Employee", ["name": "A", "salary": -1])
      let error = try #require(persistError { try context.save() })
      #expect(error.code.rawValue == 1560 && error.errors.count == 4)
      #expect(error.errors.compactMap { $0.ownError as? OwnError } == [OwnError()])
      #expect(Set(error.errors.compactMap(\.validationFailure?.key)) == ["name", "salary"])
    }
  }

  @Test("A value can be checked before it is set")
  func beforeSetting() throws {
    try withEmployees { context in
      let employee = try context.make("Employee", ["name": "Ann"])
      try employee.validateValue("Al", forKey: "name")
      try employee.validateValue(nil, forKey: "salary")
      try employee.validateValue(nil, forKey: "boss")
      #expect(persistError { try employee.validateValue("A", forKey: "name") }?.code == .validationRule)
      #expect(persistError { try employee.validateValue(nil, forKey: "name") }?.code == .validationMissingRequired)
      #expect(persistError { try employee.validateValue("five", forKey: "salary") }?.code == .typeMismatch)
      #expect(persistError { try employee.validateValue(5, forKey: "height") }?.code == .unknownProperty)
      #expect(employee["name"] as? String == "Ann")
    }
  }

  @Test("A class's rule gets the value that the property would have, whatever type it is given as")
  func convertedValues() throws {
    final class Strict: ManagedObject {
      override class var validators: [PropertyValidator] {
        [
          PropertyValidator("salary") { _, value in
            guard let value else { return }
            guard let salary = value as? Int, salary <= 1_000_000 else { throw OwnError() }
          }
        ]
      }
    }
    try withStack(Self.model) { stack in
      let context = stack.context(classes: ["Employee": Strict.self])
      let employee = try context.make("Employee", ["name": "Ann"])
      for value in [NSNull(), StoredValue.null, Int64(5), UInt8(5), NSNumber(value: 5)] as [Any] {
        try employee.validateValue(value, forKey: "salary")
      }
      for value in [2_000_000, Int64(2_000_000), NSNumber(value: 2_000_000), StoredValue.integer(2_000_000)] as [Any] {
        #expect(throws: OwnError()) { try employee.validateValue(value, forKey: "salary") }
      }
    }
  }

  @Test("The members of every kind of collection are counted, each once, and other values are refused")
  func collections() throws {
    try withStack(SampleModels.staff) { stack in
      let context = stack.context()
      let staff = try ["Ann", "Bob", "Cid"].map { try context.make("Employee", ["name": $0]) }
      let department = try context.make("Department")
      let two: [Any] = [
        [staff[0], staff[1], staff[0]], NSSet(array: [staff[0], staff[1]]), RelationshipSet([staff[0], staff[1]]),
        Set(staff.prefix(2)), NSNull(),
      ]
      for value in two { try department.validateValue(value, forKey: "employees") }
      for value in [staff, NSSet(array: staff), NSOrderedSet(array: staff), NSArray(array: staff)] as [Any] {
        let error = persistError { try department.validateValue(value, forKey: "employees") }
        #expect(error?.code == .validationTooManyObjects && error?.validationFailure?.value == .integer(3))
      }
      #expect(persistError { try department.validateValue(["Ann"], forKey: "employees") }?.code == .typeMismatch)
      #expect(persistError { try staff[0].validateValue("Sales", forKey: "department") }?.code == .typeMismatch)
      try staff[0].validateValue(department, forKey: "department")
      try #expect(department.many("employees").isEmpty && staff[0].one("department") == nil)
    }
  }

  @Test("A class's rule for a transient attribute is checked if the value has changed, not if the fetch hook set it")
  func transientRule() throws {
    final class Person: ManagedObject {
      override class var validators: [PropertyValidator] {
        [PropertyValidator("displayName") { _, value in if value as? String != "fine" { throw OwnError() } }]
      }
      override func awakeFromFetch() { self["displayName"] = "from the hook" }
    }
    try withStack(SampleModels.pets) { stack in
      let first = stack.context()
      try first.make("Person", ["name": "Ann"])
      try first.save()
      let context = stack.context(classes: ["Person": Person.self])
      let ann = try context.named("Person", "Ann")
      ann["name"] = "Anna"
      try context.save()
      ann["name"] = "Annie"
      ann["displayName"] = "wrong"
      #expect(throws: OwnError()) { try context.save() }
      ann["displayName"] = "fine"
      try context.save()
      #expect(ann["displayName"] as? String == "fine")
    }
  }

  @Test("VAL-11: a to-many with too few members is an error with the relationship's name")
  func tooFew() throws {
    let model = ModelDescription(entities: [
      EntityDescription(
        "Book", relationships: [
          RelationshipDescription("pages", toMany: "Page", inverse: "book", isOptional: false, minimumCount: 1)
        ]),
      EntityDescription("Page", relationships: [RelationshipDescription("book", to: "Book", inverse: "pages")]),
    ])
    try withStack(model) { stack in
      let context = stack.context()
      try context.make("Book")
      let error = try #require(persistError { try context.save() })
      #expect(error.code.rawValue == 1580 && error.place.property == "pages")
      #expect(error.validationFailure?.key == "pages" && error.validationFailure?.value == .integer(0))
    }
  }
}
