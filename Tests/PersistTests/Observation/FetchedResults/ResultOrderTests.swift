import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("The order of fetched results")
struct ResultOrderTests {
  @Test("With unsaved values of related objects, the results always have the order of a fetch")
  func relatedKeys() throws {
    try withStack(Staff.model) { stack in
      let context = stack.context()
      let groups = try ["m", "p"].map { try context.make("Group", ["name": $0]) }
      let people = try ["Ann", "Bob", "Cid", "Dan"].map { try context.person($0) }
      for (index, person) in people.enumerated() { person["group"] = groups[index % 2] }
      try context.save()
      let child = ManagedObjectContext(parent: context)
      let controllers = try [context, child].map { try Staff.controller($0, by: ["group.name", "firstName"]) }
      func check(_ what: String) throws {
        for (context, controller) in zip([context, child], controllers) {
          context.processPendingChanges()
          #expect(controller.fetchedObjects == (try context.fetch(controller.fetchRequest)), "\(what)")
        }
      }
      groups[0]["name"] = "z"
      try controllers[1].performFetch()
      try check("a related value")
      people[1]["firstName"] = "Zoe"
      try controllers[1].performFetch()
      try check("a value of its own")
      context.refresh(people[1], mergeChanges: false)
      try controllers[1].performFetch()
      try check("a refresh")
      try child.person("Eve")["group"] = child.object(with: groups[0].objectID)
      try check("a new object of the child")
      try child.save()
      try check("the child's save")
      try context.save()
      try controllers[1].performFetch()
      try check("the save")
    }
  }

  @Test("Without sort descriptors, the results have the order of a fetch")
  func noOrder() throws {
    try withStack(Staff.model) { stack in
      let context = stack.context()
      for name in ["Cid", "Ann", "Bob"] { try context.person(name, team: "red") }
      try context.save()
      var request = try FetchRequest<ManagedObject>("Person", where: "salary > 0")
      request.sortDescriptors = []
      let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
      let sectioned = FetchedResultsController(
        fetchRequest: request, managedObjectContext: context, sectionNameKeyPath: "team")
      for controller in [controller, sectioned] { try controller.performFetch() }
      func check(_ what: String) throws {
        context.processPendingChanges()
        #expect(controller.fetchedObjects == (try context.fetch(request)), "\(what)")
        #expect(Set(sectioned.fetchedObjects ?? []) == Set(try context.fetch(request)), "\(what)")
      }
      try check("at first")
      let recorder = ResultsRecorder()
      controller.delegate = recorder
      try context.person("Dan", team: "blue")
      try check("an insertion")
      #expect(recorder.calls == ["will", "insert - (0, 3)", "did"] && sectioned.sections?.count == 2)
      try context.named("Person", "Ann", by: "firstName")["salary"] = 5
      try check("a change")
      context.delete(try context.named("Person", "Cid", by: "firstName"))
      try check("a deletion")
      try context.save()
      try check("a save")
    }
  }

  @Test("A removed section is reported without its objects")
  func deletedSection() throws {
    final class Sections: FetchedResultsControllerDelegate {
      var told: [String] = []
      func controller(
        _ controller: FetchedResultsController<ManagedObject>, didChange section: FetchedResultsSection<ManagedObject>,
        atSectionIndex index: Int, for type: FetchedResultsChangeType
      ) {
        told.append("\(type) \(section.name) \(section.numberOfObjects) \(section.objects.count)")
      }
    }
    try withStack(Staff.model) { stack in
      let context = stack.context()
      let ann = try context.person("Ann", team: "red")
      try context.save()
      let controller = try Staff.controller(context, by: ["team"], sections: "team")
      let sections = Sections()
      controller.delegate = sections
      ann["team"] = "blue"
      context.processPendingChanges()
      #expect(sections.told == ["delete red 0 0", "insert blue 1 1"])
    }
  }
}
