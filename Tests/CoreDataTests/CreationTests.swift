import CoreData
import Foundation
import Testing

/// A class without a declaration of its own.
class PlainEmployee: NSManagedObject {}

/// A subclass with an initializer of its own, which the source pass adapts.
final class NamedEmployee: PlainEmployee {
  private(set) var isPrepared = false

  public required convenience init(_ origin: NSManagedObject.Origin) {
    self.init(entity: NSEntityDescription(carrying: origin), insertInto: nil)
  }

  override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
    super.init(entity: entity, insertInto: context)
    isPrepared = true
  }

  convenience init(_ name: String, in context: NSManagedObjectContext) {
    self.init(context: context)
    setValue(name, forKey: "name")
  }
}

extension NSManagedObject {
  fileprivate class func inserted(into context: NSManagedObjectContext) -> Self { self.init(context: context) }
}

extension NSFetchRequestResult where Self: NSManagedObject {
  fileprivate static func otherwise(into context: NSManagedObjectContext) -> Self { Self(context: context) }
}

@Suite("Creating objects")
struct CreationTests {
  private let context: NSManagedObjectContext

  init() throws {
    let model = TestModels.staff()
    model.entitiesByName["Employee"]?.managedObjectClassName = "NamedEmployee"
    context = try .opening(nil, model)
  }

  private func make<Object: NSManagedObject>(_ type: Object.Type) -> Object { Object(context: context) }

  @Test("Generic code creates objects of any class")
  func generic() throws {
    let employee = make(NamedEmployee.self)
    #expect(employee.isPrepared && employee.isInserted && employee.entity.name == "Employee")
    let type: NSManagedObject.Type = NamedEmployee.self
    #expect((type.managed(context: context) as? NamedEmployee)?.isPrepared == true)
    #expect(NamedEmployee.inserted(into: context).isPrepared && NamedEmployee.otherwise(into: context).isPrepared)
    #expect(NamedEmployee("Anna", in: context).value(forKey: "name") as? String == "Anna")
    #expect(context.insertedObjects.count == 5)
    try context.save()
  }

  @Test("An object has the entity's class, if that is a subclass of the requested one")
  func entityClass() throws {
    let entity = try #require(NSEntityDescription.entity(forEntityName: "Employee", in: context))
    #expect((NSManagedObject.managed(entity: entity, insertInto: context) as? NamedEmployee)?.isPrepared == true)
    #expect((PlainEmployee.managed(entity: entity, insertInto: nil) as? NamedEmployee)?.isPrepared == true)
    #expect(type(of: KeyedEmployee.managed(entity: entity, insertInto: nil)) == KeyedEmployee.self)
    #expect(context.insertedObjects.count == 1)
  }

  @Test("Classes are found out as Objective-C's are")
  func classes() {
    let employee = make(NamedEmployee.self)
    #expect(employee.isKind(of: NSManagedObject.self) && employee.isKind(of: PlainEmployee.self))
    #expect(employee.isMember(of: NamedEmployee.self) && !employee.isMember(of: PlainEmployee.self))
    #expect(!employee.isKind(of: KeyedEmployee.self))
  }

  @Test("A model is read back from an archive")
  func archive() throws {
    let model = TestModels.staff()
    model.entitiesByName["Employee"]?.uniquenessConstraints = [["name"]]
    let data = try NSKeyedArchiver.archivedData(withRootObject: model, requiringSecureCoding: true)
    let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: NSManagedObjectModel.self, from: data))
    #expect(read == model && read.entityVersionHashesByName == model.entityVersionHashesByName)
    #expect(read.entitiesByName["Employee"]?.uniquenessConstraints as? [[String]] == [["name"]])
    #expect(
      read.entitiesByName["Employee"]?.relationshipsByName["department"]?.inverseRelationship?.name == "employees")
  }

  @Test("Values that become Foundation's objects on Apple's platforms are arguments of predicates")
  func arguments() throws {
    let date = Date(timeIntervalSinceReferenceDate: 1000)
    context.employee("Anna", 1).setValue(date, forKey: "hireDate")
    let department = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
    context.employee("Bea", 2, in: department)
    try context.save()
    func found(_ format: String, _ arguments: any CVarArg...) throws -> [String] {
      let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
      request.predicate = withVaList(arguments) { NSPredicate(format: format, arguments: $0) }
      let names = try context.names(request)
      request.predicate = NSPredicate(format: format, argumentArray: arguments)
      #expect(try context.names(request) == names)
      return names
    }
    #expect(try found("hireDate == %@", date as CVarArg) == ["Anna"])
    #expect(try found("%K IN %@", "name", ["Bea", "Carol"] as CVarArg) == ["Bea"])
    #expect(try found("name IN %@", Set(["Anna"]) as CVarArg) == ["Anna"])
    #expect(try found("department == %@", department) == ["Bea"])
    #expect(try found("department == %@", department.objectID) == ["Bea"])
    #expect(try found("salary == %@", Decimal(2) as CVarArg) == ["Bea"])
  }
}
