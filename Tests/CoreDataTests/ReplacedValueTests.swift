import CoreData
import Foundation
import Testing

/// Employees whose validation methods replace values, as the source pass declares them.
final class CarefulEmployee: NSManagedObject {
  var callCount = 0

  override class var managedValidators: [ManagedValidator] {
    super.managedValidators + [
      ManagedValidator("name") { (object: CarefulEmployee, value) in try object.validateName(value) },
      ManagedValidator("salary") { (object: CarefulEmployee, value) in try object.validateSalary(value) },
    ]
  }

  private func validateName(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    callCount += 1
    guard let name = value.pointee as? String else {
      value.pointee = NSString(string: "nobody")
      return
    }
    if name == "refused" { throw NSError(domain: "Careful", code: 1) }
    let trimmed = name.trimmingCharacters(in: .whitespaces)
    if trimmed != name { value.pointee = NSString(string: trimmed) }
  }

  private func validateSalary(_ value: AutoreleasingUnsafeMutablePointer<AnyObject?>) throws {
    if let salary = value.pointee as? NSNumber, salary.intValue < 0 { value.pointee = NSNumber(value: 0) }
  }
}

@Suite("Validation methods that replace values")
struct ReplacedValueTests {
  private let context: NSManagedObjectContext
  private let folder: StoreFolder

  init() throws {
    folder = try StoreFolder()
    let model = TestModels.staff()
    let employee = try #require(model.entitiesByName["Employee"])
    employee.managedObjectClassName = "CarefulEmployee"
    employee.attributesByName["name"]?.isOptional = false
    employee.attributesByName["salary"]?.setValidationPredicates(
      [NSPredicate(format: "SELF >= 0")], withValidationWarnings: nil)
    context = try .opening(folder.store(), model)
  }

  private func saved() throws -> [String] {
    let request = NSFetchRequest<NSDictionary>(entityName: "Employee")
    request.resultType = .dictionaryResultType
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    return try context.fetch(request).map { "\($0["name"] ?? "") \($0["salary"] ?? "")" }
  }

  @Test("A replaced value is saved, and the model's rules check it", arguments: [false, true])
  func saving(isNested: Bool) throws {
    let own: NSManagedObjectContext
    if isNested {
      own = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
      own.parent = context
    } else {
      own = context
    }
    let employee = own.employee(" Anna ", -5)
    own.employee("", 1).setValue(nil, forKey: "name")
    try own.save()
    #expect(employee.value(forKey: "name") as? String == "Anna")
    if isNested { try context.save() }
    #expect(try saved() == ["Anna 0", "nobody 1"])
    #expect(!own.hasChanges && !context.hasChanges)
    employee.setValue("Bea ", forKey: "name")
    try own.save()
    if isNested { try context.save() }
    #expect(try saved() == ["Bea 0", "nobody 1"])
    #expect(!own.hasChanges && !context.hasChanges)
  }

  @Test("A method is called once for a save that it has no objection to, and not for unchanged values")
  func calls() throws {
    let employee = try #require(context.employee("Anna", 1) as? CarefulEmployee)
    try context.save()
    #expect(employee.callCount == 1)
    employee.setValue(2, forKey: "salary")
    try context.save()
    #expect(employee.callCount == 1)
  }

  @Test("A method's error is thrown unchanged, and with others in a list")
  func errors() throws {
    let employee = context.employee("refused", 1)
    #expect { try context.save() } throws: { ($0 as NSError).domain == "Careful" }
    employee.setValue("Anna", forKey: "name")
    try context.save()
    context.employee("refused", 1)
    context.employee("refused", 2)
    #expect { try context.save() } throws: { error in
      let details = (error as NSError).userInfo[NSDetailedErrorsKey] as? [NSError]
      return (error as NSError).code == NSValidationMultipleErrorsError
        && details?.map(\.domain) == ["Careful", "Careful"]
    }
  }

  @Test("A value that is only checked is replaced for the caller, not in the object")
  func checking() throws {
    let employee = context.employee("Anna", 1)
    var value: AnyObject? = NSString(string: " Bea")
    try employee.validateValue(&value, forKey: "name")
    #expect(value as? String == "Bea")
    #expect(employee.value(forKey: "name") as? String == "Anna")
    value = NSNumber(value: -1)
    let pointer = withUnsafeMutablePointer(to: &value) { AutoreleasingUnsafeMutablePointer<AnyObject?>($0) }
    try employee.validateValue(pointer, forKey: "salary")
    #expect(pointer.pointee as? Int == 0)
    value = NSString(string: "refused")
    #expect { try employee.validateValue(&value, forKey: "name") } throws: { ($0 as NSError).domain == "Careful" }
  }
}
