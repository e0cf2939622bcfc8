import CoreData
import Foundation
import PersistTestSupport

/// Models that are built in code, as applications without model files do.
enum TestModels {
  static func attribute(
    _ name: String, _ type: NSAttributeType, isOptional: Bool = true, defaultValue: Any? = nil
  ) -> NSAttributeDescription {
    let attribute = NSAttributeDescription()
    attribute.name = name
    attribute.attributeType = type
    attribute.isOptional = isOptional
    attribute.defaultValue = defaultValue
    return attribute
  }

  /// Employees and their departments: Emp1, or Emp2 without hire dates and with titles.
  static func staff(isSecond: Bool = false) -> NSManagedObjectModel {
    let employee = NSEntityDescription()
    employee.name = "Employee"
    employee.managedObjectClassName = "NSManagedObject"
    let department = NSEntityDescription()
    department.name = "Department"
    department.managedObjectClassName = "NSManagedObject"
    let toDepartment = NSRelationshipDescription()
    toDepartment.name = "department"
    toDepartment.destinationEntity = department
    toDepartment.maxCount = 1
    let employees = NSRelationshipDescription()
    employees.name = "employees"
    employees.destinationEntity = employee
    employees.inverseRelationship = toDepartment
    toDepartment.inverseRelationship = employees
    employee.properties = [
      attribute("name", .stringAttributeType), attribute("salary", .integer32AttributeType, defaultValue: 0),
      isSecond ? attribute("title", .stringAttributeType) : attribute("hireDate", .dateAttributeType), toDepartment,
    ]
    department.properties = [attribute("name", .stringAttributeType), employees]
    let model = NSManagedObjectModel()
    model.entities = [employee, department]
    model.versionIdentifiers = [isSecond ? "2" : "1"]
    return model
  }
}

/// A folder for stores, removed at the end.
final class StoreFolder: Sendable {
  let url: URL

  init() throws {
    TestKey.install
    url = FileManager.default.temporaryDirectory.appendingPathComponent("CoreDataTests-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  func store(_ name: String = "store") -> URL { url.appendingPathComponent("\(name).sqlite") }
}

extension NSManagedObjectContext {
  /// Opens a store of a model.
  static func opening(
    _ url: URL?, _ model: NSManagedObjectModel, options: [AnyHashable: Any]? = nil
  ) throws -> NSManagedObjectContext {
    let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
    try coordinator.addPersistentStore(
      ofType: url == nil ? NSInMemoryStoreType : NSSQLiteStoreType, configurationName: nil, at: url, options: options)
    let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    context.persistentStoreCoordinator = coordinator
    return context
  }

  @discardableResult
  func employee(_ name: String, _ salary: Int, in department: NSManagedObject? = nil) -> NSManagedObject {
    let object = NSEntityDescription.insertNewObject(forEntityName: "Employee", into: self)
    object.setValue(name, forKey: "name")
    object.setValue(salary, forKey: "salary")
    object.setValue(department, forKey: "department")
    return object
  }

  func names(_ request: NSFetchRequest<NSManagedObject>) throws -> [String] {
    try fetch(request).map { $0.value(forKey: "name") as? String ?? "" }
  }
}
