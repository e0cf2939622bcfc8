import CoreData
import Foundation
import Testing

/// An employee as the source pass declares one with properties that aren't in the model.
final class KeyedEmployee: NSManagedObject {
  var note: String?
  var initial: String { String((value(forKey: "name") as? String ?? "").prefix(1)) }
  var level = 0

  override class var managedProperties: [ManagedProperty] {
    super.managedProperties + [
      ManagedProperty("initial", { (object: KeyedEmployee) in object.initial }),
      ManagedProperty(
        "note", { (object: KeyedEmployee) in object.note },
        set: { (object: KeyedEmployee, value) in object.note = value.value() }),
      ManagedProperty(
        "level", { (object: KeyedEmployee) in object.level },
        set: { (object: KeyedEmployee, value) in object.level = value.value() }),
    ]
  }

  var primitiveSalary: NSNumber? {
    get { managedValue("primitiveSalary") }
    set { setManagedValue(newValue, "primitiveSalary") }
  }
}

/// The class of one test's entities.
final class OtherEmployee: NSManagedObject {}

@Suite("Values by key")
struct KeyTests {
  private let context: NSManagedObjectContext

  init() throws {
    let model = TestModels.staff()
    model.entitiesByName["Employee"]?.managedObjectClassName = "KeyedEmployee"
    context = try .opening(nil, model)
  }

  private func employee(_ name: String, in department: NSManagedObject? = nil) throws -> KeyedEmployee {
    try #require(context.employee(name, 1, in: department) as? KeyedEmployee)
  }

  @Test("Properties of the class are found by key, by key path and in predicates that are evaluated in memory")
  func ownProperties() throws {
    let department = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
    let anna = try employee("Anna", in: department)
    _ = try employee("Bob", in: department)
    #expect(anna.value(forKey: "initial") as? String == "A")
    #expect(Set(department.value(forKeyPath: "employees.initial") as? Set<String> ?? []) == ["A", "B"])
    #expect(NSPredicate(format: "initial == 'A' AND level == 0").evaluate(with: anna))
    #expect(NSPredicate(format: "ANY employees.initial == 'B'").evaluate(with: department))
    anna.setValue("text", forKey: "note")
    anna.setValue(3, forKey: "level")
    #expect(anna.note == "text" && anna.level == 3 && anna.value(forKey: "level") as? Int == 3)
    anna.setValue(nil, forKey: "note")
    #expect(anna.note == nil && anna.value(forKey: "note") == nil)
  }

  @Test("Primitive accessors read and set a property without registering a change")
  func primitives() throws {
    let anna = try employee("Anna")
    try context.save()
    #expect(anna.primitiveSalary == 1)
    anna.primitiveSalary = 7
    #expect(anna.value(forKey: "salary") as? Int == 7)
    #expect(anna.changedValues().isEmpty)
    anna.primitiveSalary = nil
    #expect(anna.value(forKey: "salary") == nil)
  }

  @Test("Sections are named by properties of the class and of related objects")
  func sections() throws {
    for name in ["Anna", "Abel", "Bob"] { _ = try employee(name) }
    let request = NSFetchRequest<KeyedEmployee>(entityName: "Employee")
    request.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "initial", cacheName: nil)
    try controller.performFetch()
    #expect(controller.sections?.map(\.name) == ["A", "B"])
    #expect(controller.sections?.map(\.numberOfObjects) == [2, 1])
    context.delete(try #require(controller.fetchedObjects?.last))
    context.processPendingChanges()
    #expect(controller.sections?.map(\.name) == ["A"])
  }

  @Test("A key path of Swift's has the names of its properties once a model with the class is in use")
  func keyPathNames() {
    let sort = NSSortDescriptor(keyPath: \KeyedEmployee.managedSalary, ascending: true)
    #expect(sort.key == "salary")
    #expect(CoreData.NSExpression(forKeyPath: \KeyedEmployee.managedSalary).keyPath == "salary")
  }

  @Test("The class's entity is that of the model whose coordinator is newest")
  func entities() throws {
    func model() -> NSManagedObjectModel {
      let model = TestModels.staff()
      model.entitiesByName["Employee"]?.managedObjectClassName = "OtherEmployee"
      return model
    }
    let (first, second) = (model(), model())
    let older = try NSManagedObjectContext.opening(nil, first)
    #expect(OtherEmployee.entity().managedObjectModel === first)
    let newer = try NSManagedObjectContext.opening(nil, second)
    #expect(OtherEmployee.entity().managedObjectModel === second)
    let unused = try #require(first.copy() as? NSManagedObjectModel)
    #expect(unused.entities.count == 2 && OtherEmployee.entity().managedObjectModel === second)
    #expect(OtherEmployee.fetchRequest().entityName == "Employee")
    #expect(OtherEmployee(context: older).entity.managedObjectModel === first)
    withExtendedLifetime(newer) {}
  }
}

extension KeyedEmployee {
  fileprivate var managedSalary: Int32 {
    get { managedValue("salary") }
    set { setManagedValue(newValue, "salary") }
  }
}
