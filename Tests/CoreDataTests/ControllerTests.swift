import CoreData
import Foundation
import Testing

@Suite("Fetched results controllers of Core Data's")
struct ControllerTests {
  private let context: NSManagedObjectContext
  private let recorder = Recorder()

  init() throws { context = try .opening(nil, TestModels.staff()) }

  private final class Recorder: NSObject, NSFetchedResultsControllerDelegate {
    var events: [String] = []
    var controllers: [NSFetchedResultsController<NSFetchRequestResult>] = []

    func controllerWillChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
      events.append("will")
      controllers.append(controller)
    }

    func controllerDidChangeContent(_ controller: NSFetchedResultsController<NSFetchRequestResult>) {
      events.append("did")
    }

    func controller(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange sectionInfo: NSFetchedResultsSectionInfo,
      atSectionIndex sectionIndex: Int, for type: NSFetchedResultsChangeType
    ) {
      events.append("section \(type) \(sectionInfo.name) \(sectionIndex)")
    }

    func controller(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>, didChange anObject: Any,
      at indexPath: IndexPath?, for type: NSFetchedResultsChangeType, newIndexPath: IndexPath?
    ) {
      let name = (anObject as? NSManagedObject)?.value(forKey: "name") as? String ?? "?"
      events.append("\(type) \(name) \(indexPath.map { "\($0)" } ?? "-") \(newIndexPath.map { "\($0)" } ?? "-")")
    }

    func controller(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>, sectionIndexTitleForSectionName sectionName: String
    ) -> String? {
      String(sectionName.prefix(2))
    }
  }

  private func controller(_ sections: String? = "department.name", where format: String? = nil) throws
    -> NSFetchedResultsController<NSManagedObject>
  {
    let request = NSFetchRequest<NSManagedObject>(entityName: "Employee")
    request.predicate = format.map { NSPredicate(format: $0) }
    request.sortDescriptors = (sections.map { [$0, "name"] } ?? ["name"])
      .map { NSSortDescriptor(key: $0, ascending: true) }
    let controller = NSFetchedResultsController(
      fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: sections, cacheName: "cache")
    controller.delegate = recorder
    try controller.performFetch()
    return controller
  }

  private func department(_ name: String) -> NSManagedObject {
    let department = NSEntityDescription.insertNewObject(forEntityName: "Department", into: context)
    department.setValue(name, forKey: "name")
    return department
  }

  @Test("Sections have names, objects, index titles, and paths in both directions")
  func sections() throws {
    let (engineering, sales) = (department("Engineering"), department("Sales"))
    context.employee("Alice", 1, in: engineering)
    context.employee("Bob", 2, in: engineering)
    let carol = context.employee("Carol", 3, in: sales)
    try context.save()
    let controller = try controller()
    let sections = try #require(controller.sections)
    #expect(sections.map(\.name) == ["Engineering", "Sales"])
    #expect(sections.map(\.numberOfObjects) == [2, 1])
    #expect((sections[0].objects as? [NSManagedObject])?.count == 2)
    #expect(controller.indexPath(forObject: carol) == IndexPath(item: 0, section: 1))
    #expect(controller.object(at: IndexPath(row: 0, section: 1)) === carol)
    #expect(controller.sectionIndexTitles == ["En", "Sa"])
    #expect(controller.section(forSectionIndexTitle: "Sa", at: 1) == 1)
    #expect(controller.fetchedObjects?.count == 3)
  }

  @Test("Changes come in Core Data's order, sections first")
  func changes() throws {
    let controller = try controller()
    let (engineering, sales) = (department("Engineering"), department("Sales"))
    let alice = context.employee("Alice", 1, in: engineering)
    context.processPendingChanges()
    #expect(recorder.events == ["will", "section insert Engineering 0", "insert Alice - [0, 0]", "did"])
    #expect(recorder.controllers.first.map { $0.isEqual(controller) } == true)
    recorder.events = []
    alice.setValue(2, forKey: "salary")
    context.processPendingChanges()
    #expect(recorder.events.contains { $0.hasPrefix("update Alice") })
    recorder.events = []
    alice.setValue(sales, forKey: "department")
    context.processPendingChanges()
    #expect(recorder.events.first == "will" && recorder.events.last == "did")
    #expect(recorder.events.contains("section insert Sales 0"))
    #expect(recorder.events.contains("section delete Engineering 0"))
    #expect(recorder.events.contains { $0.hasPrefix("move Alice [0, 0]") })
    recorder.events = []
    context.delete(alice)
    try context.save()
    #expect(recorder.events.contains("delete Alice [0, 0] -"))
    #expect(controller.sections?.isEmpty == true)
  }

  @Test("An object leaves and enters with the predicate")
  func predicate() throws {
    let controller = try controller(nil, where: "salary > 5")
    let alice = context.employee("Alice", 10)
    context.processPendingChanges()
    recorder.events = []
    alice.setValue(1, forKey: "salary")
    context.processPendingChanges()
    #expect(recorder.events == ["will", "delete Alice [0, 0] -", "did"])
    #expect(controller.indexPath(forObject: alice) == nil)
    recorder.events = []
    alice.setValue(6, forKey: "salary")
    context.processPendingChanges()
    #expect(recorder.events == ["will", "insert Alice - [0, 0]", "did"])
  }

  @Test("A request without sort descriptors can't be controlled")
  func withoutSort() throws {
    let controller = NSFetchedResultsController(
      fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Employee"), managedObjectContext: context,
      sectionNameKeyPath: nil, cacheName: nil)
    #expect(controller.fetchedObjects == nil && controller.sections == nil)
  }

  private final class Differences: NSFetchedResultsControllerDelegate {
    var found: [CollectionDifference<NSManagedObjectID>] = []

    func controller(
      _ controller: NSFetchedResultsController<NSFetchRequestResult>,
      didChangeContentWith diff: CollectionDifference<NSManagedObjectID>
    ) {
      found.append(diff)
    }
  }

  @Test("A delegate may get the differences between the results instead")
  func differences() throws {
    let controller = try controller(nil)
    let delegate = Differences()
    controller.delegate = delegate
    let (alice, bob) = (context.employee("Alice", 1), context.employee("Bob", 2))
    try context.save()
    #expect(delegate.found.flatMap { $0.insertions }.count == 2)
    delegate.found = []
    alice.setValue("Zoe", forKey: "name")
    context.processPendingChanges()
    #expect(delegate.found.count == 1)
    #expect(
      delegate.found.first.map(Array.init) == [
        .remove(offset: 0, element: alice.objectID, associatedWith: 1),
        .insert(offset: 1, element: alice.objectID, associatedWith: 0),
      ])
    delegate.found = []
    context.delete(bob)
    context.processPendingChanges()
    #expect(delegate.found.first?.removals.count == 1)
  }
}
