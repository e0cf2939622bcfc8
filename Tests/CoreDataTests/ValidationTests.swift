import CoreData
import Foundation
import Testing

@Suite("Validation errors of Core Data's")
struct ValidationTests {
  private let context: NSManagedObjectContext

  init() throws {
    let model = TestModels.staff()
    let employee = try #require(model.entitiesByName["Employee"])
    let name = try #require(employee.attributesByName["name"])
    name.isOptional = false
    name.setValidationPredicates(
      [NSPredicate(format: "length >= 2")], withValidationWarnings: ["Name is too short."])
    let salary = try #require(employee.attributesByName["salary"])
    salary.setValidationPredicates([NSPredicate(format: "SELF >= 0")], withValidationWarnings: ["Negative."])
    let employees = try #require(model.entitiesByName["Department"]?.relationshipsByName["employees"])
    employees.maxCount = 2
    employees.deleteRule = .denyDeleteRule
    context = try .opening(nil, model)
  }

  private func failure(_ body: () throws -> Void) -> NSError? {
    do {
      try body()
      return nil
    } catch {
      return error as NSError
    }
  }

  @Test("A missing value has its code, key and object")
  func missing() throws {
    let employee = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: context)
    for error in [failure { try employee.validateForInsert() }, failure { try context.save() }] {
      #expect(error?.domain == NSCocoaErrorDomain && error?.code == NSValidationMissingMandatoryPropertyError)
      #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "name")
      #expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === employee)
      #expect(error?.localizedDescription.isEmpty == false)
    }
    employee.setValue("Alice", forKey: "name")
    try context.save()
  }

  @Test("A broken rule has its value, predicate and the model's warning")
  func rule() throws {
    let employee = context.employee("A", 1)
    let error = failure { try employee.validateForInsert() }
    #expect(error?.code == NSManagedObjectValidationError)
    #expect(error?.userInfo[NSValidationValueErrorKey] as? String == "A")
    #expect((error?.userInfo[NSValidationPredicateErrorKey] as? NSPredicate)?.description == "length >= 2")
    #expect(error?.localizedDescription.contains("Name is too short.") == true)
  }

  @Test("Several broken rules are one error with the others in it")
  func several() throws {
    let employee = context.employee("", -1)
    employee.setValue(nil, forKey: "name")
    context.employee("B", 1)
    let error = failure { try context.save() }
    #expect(error?.code == NSValidationMultipleErrorsError)
    let details = error?.userInfo[NSDetailedErrorsKey] as? [NSError]
    #expect(details?.map(\.code).sorted() == [1550, 1550, 1570])
    #expect(Set(details?.compactMap { $0.userInfo[NSValidationObjectErrorKey] as? NSManagedObject } ?? []).count == 2)
    #expect((error.map { CocoaError(_nsError: $0) })?.code == .validationMultipleErrors)
  }

  @Test("Counts of relationships and denied deletions")
  func relationships() throws {
    let department = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
    for name in ["Alice", "Bob", "Carol"] { context.employee(name, 1, in: department) }
    let error = failure { try department.validateForInsert() }
    #expect(error?.code == NSValidationRelationshipExceedsMaximumCountError)
    #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "employees")
    (department.value(forKey: "employees") as? Set<NSManagedObject>)?.first.map(context.delete)
    try context.save()
    #expect(failure { try department.validateForDelete() }?.code == NSValidationRelationshipDeniedDeleteError)
    context.delete(department)
    #expect(failure { try context.save() }?.code == NSValidationRelationshipDeniedDeleteError)
    context.rollback()
    #expect(!department.isDeleted)
  }

  @Test("A single property can be checked, without setting it")
  func single() throws {
    let employee = context.employee("Alice", 1)
    let value = AutoreleasingUnsafeMutablePointer<AnyObject?>(NSString(string: "A"))
    #expect(failure { try employee.validateValue(value, forKey: "name") }?.code == NSManagedObjectValidationError)
    value.pointee = NSString(string: "Alicia")
    try employee.validateValue(value, forKey: "name")
    #expect(employee.value(forKey: "name") as? String == "Alice")
  }
}
