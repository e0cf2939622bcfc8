import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Fetched results of child contexts")
struct ChildResultsTests {
  private func withFamily(
    _ body: (TestStack, _ parent: ManagedObjectContext, _ child: ManagedObjectContext) throws -> Void
  ) throws {
    try withStack(Staff.model) { stack in
      let parent = stack.context()
      try body(stack, parent, ManagedObjectContext(parent: parent))
    }
  }

  @Test("An object deleted by a child isn't restored by merging others' changes of it")
  func phantom() throws {
    try withFamily { stack, parent, child in
      let ann = try parent.person("Ann")
      try parent.save()
      let controller = try Staff.controller(child)
      child.delete(child.object(with: ann.objectID))
      try child.save()
      #expect(controller.numberOfObjects == 0)
      let other = stack.context()
      let saves = EventRecorder(other)
      try other.existingObject(with: ann.objectID)["firstName"] = "Anna"
      try other.save()
      child.mergeChanges(from: try #require(saves.saves.last?.savedChanges))
      child.processPendingChanges()
      #expect(controller.numberOfObjects == 0 && controller.fetchedObjects == [])
    }
  }

  @Test("A parent's new object discarded by rollback leaves the results of a child that merges automatically")
  func rollback() throws {
    try withFamily { stack, parent, child in
      try parent.person("Ann")
      try parent.save()
      child.automaticallyMergesChangesFromParent = true
      let controller = try Staff.controller(child)
      let draft = ManagedObjectContext(parent: parent)
      try draft.person("Bob")
      try draft.named("Person", "Ann", by: "firstName")["firstName"] = "Cid"
      try draft.save()
      child.processPendingChanges()
      #expect(controller.fetchedObjects?.map { $0["firstName"] as? String } == ["Bob", "Cid"])
      parent.rollback()
      child.processPendingChanges()
      #expect(controller.fetchedObjects?.map { $0["firstName"] as? String } == ["Ann"])
    }
  }

  @Test("A row that stops matching because of an object at the end of a path is removed with the saves")
  func stale() throws {
    try withFamily { stack, parent, child in
      let group = try child.make("Group", ["name": "x"])
      try child.person("Ann")["group"] = group
      try child.save()
      try parent.save()
      let controller = try Staff.controller(child, where: "group.name == 'x'")
      #expect(controller.numberOfObjects == 1)
      group["name"] = "y"
      try child.save()
      try parent.save()
      child.processPendingChanges()
      #expect(try child.fetch(controller.fetchRequest).isEmpty && controller.numberOfObjects == 0)
    }
  }

  @Test(
    "A row whose match changes only because of members follows the parent's save",
    arguments: ["tags.@count > 0", "ANY tags.name == 'x'"])
  func members(predicate: String) throws {
    let model = ModelDescription(entities: [
      EntityDescription(
        "Note", attributes: [AttributeDescription("name", .string)],
        relationships: [RelationshipDescription("tags", toMany: "Tag", inverse: "notes")]),
      EntityDescription(
        "Tag", attributes: [AttributeDescription("name", .string)],
        relationships: [RelationshipDescription("notes", toMany: "Note", inverse: "tags")]),
    ])
    try withStack(model) { stack in
      let parent = stack.context()
      let notes = try ["a", "b"].map { try parent.make("Note", ["name": $0]) }
      let tag = try parent.make("Tag", ["name": "x"])
      try notes[0].many("tags").insert(tag)
      try parent.save()
      let child = ManagedObjectContext(parent: parent)
      var request = FetchRequest<ManagedObject>("Note", sortedBy: "name")
      request.predicate = try FetchPredicate(predicate)
      let controller = FetchedResultsController(
        fetchRequest: request, managedObjectContext: child, sectionNameKeyPath: nil)
      try controller.performFetch()
      func names() -> [String?]? { controller.fetchedObjects?.map { $0["name"] as? String } }
      #expect(names() == ["a"])
      try notes[0].many("tags").remove(tag)
      try notes[1].many("tags").insert(tag)
      try parent.save()
      child.processPendingChanges()
      #expect(names() == ["b"])
    }
  }

  @Test("Equally sorted objects have the order of a fetch, before and after each save to the parent")
  func equals() throws {
    try withFamily { stack, parent, child in
      for name in ["1", "2", "3"] { try parent.person(name) }
      try parent.save()
      let grandchild = ManagedObjectContext(parent: child)
      let contexts = [parent, child, grandchild]
      for (index, context) in contexts.enumerated() {
        for number in 0..<3 { try context.person("\(index) \(number)") }
      }
      try child.obtainPermanentIDs(for: child.insertedObjects.prefix(1))
      let controllers = try contexts.map { try Staff.controller($0, by: ["salary"]) }
      func check(_ what: String) throws {
        for (context, controller) in zip(contexts, controllers) {
          context.processPendingChanges()
          let fresh = try context.fetch(controller.fetchRequest)
          #expect(controller.fetchedObjects == fresh, "\(what)")
          for (row, object) in fresh.enumerated() {
            #expect(controller.indexPath(forObject: object) == ResultIndexPath(row: row, section: 0), "\(what)")
          }
        }
      }
      try check("at first")
      for context in contexts.reversed() {
        try context.save()
        for object in try grandchild.fetch(FetchRequest("Person")) { object["lastName"] = "changed" }
        for controller in controllers { try controller.performFetch() }
        try check("after a save")
      }
      #expect(controllers[2].numberOfObjects == 12)
    }
  }

  @Test("Identifiers assigned by a parent's save keep the order of a child's results")
  func identifiers() throws {
    try withFamily { stack, parent, child in
      for name in ["a", "b", "c", "d"] { try child.person(name) }
      try child.save()
      let controller = try Staff.controller(child, by: ["salary"])
      let recorder = ResultsRecorder()
      controller.delegate = recorder
      try parent.save()
      #expect(controller.fetchedObjects == (try child.fetch(controller.fetchRequest)))
      for (row, object) in (controller.fetchedObjects ?? []).enumerated() {
        #expect(controller.indexPath(forObject: object) == ResultIndexPath(row: row, section: 0))
      }
      #expect(recorder.calls == [])
      let last = try #require(controller.fetchedObjects?.last)
      last["lastName"] = "x"
      child.processPendingChanges()
      #expect(recorder.calls == ["will", "update (0, 3) (0, 3)", "did"])
    }
  }
}
