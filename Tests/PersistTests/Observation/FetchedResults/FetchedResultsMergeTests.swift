import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Fetched results across contexts")
struct FetchedResultsMergeTests {
  private func names(_ controller: FetchedResultsController<ManagedObject>) -> [String] {
    (controller.fetchedObjects ?? []).compactMap { $0["firstName"] as? String }
  }

  /// A controller's results after another context has made and saved changes.
  private func withTwoContexts(
    _ format: String? = nil,
    _ body: (_ view: ManagedObjectContext, _ other: ManagedObjectContext, TestStack) throws -> Void
  ) throws {
    try withStack(Staff.model) { stack in
      let (view, other) = (stack.context(), stack.context())
      view.automaticallyMergesChangesFromParent = true
      for (index, name) in ["Alice", "Bob", "Carol"].enumerated() { try other.person(name, salary: index) }
      try other.save()
      view.processPendingChanges()
      try body(view, other, stack)
    }
  }

  @Test("Another context's saved changes are included, also of objects that weren't registered here")
  func merging() throws {
    try withTwoContexts { view, other, _ in
      let controller = try Staff.controller(view, where: "salary > 1")
      #expect(names(controller) == ["Carol"])
      try other.named("Person", "Alice", by: "firstName")["salary"] = 9
      other.delete(try other.named("Person", "Carol", by: "firstName"))
      try other.person("Dora", salary: 5)
      try other.save()
      let recorder = ResultsRecorder()
      controller.delegate = recorder
      view.processPendingChanges()
      #expect(names(controller) == ["Alice", "Dora"])
      #expect(recorder.calls == ["will", "delete (0, 0) -", "insert - (0, 0)", "insert - (0, 1)", "did"])
    }
  }

  @Test("One object changed among 10,000, here or elsewhere, reads at most its row")
  func counts() throws {
    try withStack(Staff.model) { stack in
      let (view, other) = (stack.context(), stack.context())
      for index in 0..<10_000 { try other.person("\(index)", salary: index) }
      try other.save()
      view.automaticallyMergesChangesFromParent = true
      let controller = try Staff.controller(view, by: ["salary"], where: "salary >= 0")
      #expect(controller.numberOfObjects == 10_000)
      let before = stack.store.calls
      controller.object(at: ResultIndexPath(section: 0, row: 5000))["salary"] = 7
      view.processPendingChanges()
      #expect(stack.store.calls == before)
      let one = try other.fetch(FetchRequest("Person", where: "salary == 100"))[0]
      one["salary"] = 20_000
      try other.save()
      let merging = stack.store.calls
      view.processPendingChanges()
      #expect(stack.store.calls - merging <= 1)
      #expect(controller.indexPath(forObject: view.object(with: one.objectID))?.row == 9_999)
    }
  }

  @Test("Another coordinator's changes are included, by a fetch if the store has no history")
  func otherCoordinator() throws {
    try withTemporaryStore { url in
      let model = try ManagedObjectModel(Staff.model)
      let contexts = try (0..<2).map { _ in
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addStore(at: url)
        return ManagedObjectContext(coordinator)
      }
      let (view, foreign) = (contexts[0], contexts[1])
      for name in ["Alice", "Bob", "Carol"] { try view.person(name) }
      try view.save()
      view.automaticallyMergesChangesFromParent = true
      let controller = try Staff.controller(view)
      try foreign.person("Zoe")
      try foreign.named("Person", "Bob", by: "firstName")["firstName"] = "Aaron"
      try foreign.save()
      view.processPendingChanges()
      #expect(names(controller) == ["Aaron", "Alice", "Carol", "Zoe"])
    }
  }

  @Test("A predicate over a relationship follows changes at its other end")
  func relatedChanges() throws {
    try withTwoContexts { view, other, _ in
      let controller = try Staff.controller(view, where: "group.name == 'red'", sections: "group.name")
      let group = try other.make("Group", ["name": "red"])
      try other.named("Person", "Bob", by: "firstName").setValue(group, forKey: "group")
      try other.save()
      view.processPendingChanges()
      #expect(names(controller) == ["Bob"])
      view.object(with: group.objectID)["name"] = "blue"
      try view.save()
      #expect(names(controller) == [])
    }
  }

  @Test("A limit is respected: another object replaces one that is removed")
  func limits() throws {
    try withTwoContexts { view, _, _ in
      var request = try Staff.request()
      request.fetchLimit = 2
      let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: view)
      try controller.performFetch()
      let recorder = ResultsRecorder()
      controller.delegate = recorder
      view.delete(controller.object(at: ResultIndexPath(section: 0, row: 0)))
      view.processPendingChanges()
      #expect(names(controller) == ["Bob", "Carol"])
      #expect(recorder.calls == ["will", "delete (0, 0) -", "insert - (0, 1)", "did"])
    }
  }

  @Test("With a batch size, rows are read batch by batch, and those of earlier batches are released")
  func batches() throws {
    try withStack(Staff.model) { stack in
      let context = stack.context()
      for index in 0..<100 { try context.person("\(100 + index)") }
      try context.save()
      context.reset()
      var request = try Staff.request()
      request.fetchBatchSize = 10
      let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: context)
      try controller.performFetch()
      let before = stack.store.calls
      for row in 0..<100 { _ = controller.object(at: ResultIndexPath(section: 0, row: row))["firstName"] }
      #expect(stack.store.calls - before == 10)
      #expect(context.registeredObjects.filter { $0.snapshot != nil }.count == 20)
    }
  }

  @Test("A sequence yields the results immediately and after each change, several changes as one") @MainActor
  func snapshots() async throws {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(Staff.model))
    try coordinator.addInMemoryStore()
    let context = ManagedObjectContext(coordinator)
    let alice = try context.person("Alice")
    try context.save()
    let controller = try Staff.controller(context)
    var snapshots = controller.snapshots.makeAsyncIterator()
    #expect(await snapshots.next(isolation: #isolation)?.objectIDs == [alice.objectID])
    let bob = try context.person("Bob")
    context.processPendingChanges()
    alice["firstName"] = "Zoe"
    try context.save()
    let next = await snapshots.next(isolation: #isolation)
    #expect(next?.objectIDs == [bob.objectID, alice.objectID])
    #expect(next?.changedObjectIDs.contains(alice.objectID) == true)
    let waiter = Task { @MainActor in
      for await snapshot in controller.snapshots where snapshot.numberOfObjects == 3 { return true }
      return false
    }
    await Task.yield()
    try context.person("Carol")
    #expect(await waiter.value)
  }

  @Test("New objects that a save merges into others leave the results", arguments: [true, false])
  func absorbed(isStored: Bool) throws {
    try withStack(ConstraintConflictTests.cars) { stack in
      let context = stack.context()
      context.mergePolicy = .mergeByPropertyObjectTrump
      let first = try context.make("Car", ["plate": "1", "maker": "a"])
      if isStored { try context.save() }
      let controller = FetchedResultsController(
        fetchRequest: FetchRequest<ManagedObject>("Car", sortedBy: "maker"), managedObjectContext: context)
      try controller.performFetch()
      try context.make("Car", ["plate": "1", "maker": "b"])
      try context.save()
      #expect(controller.fetchedObjects == [first] && first["maker"] as? String == "b")
    }
  }

  @Test("An object whose row others have deleted leaves the results if a conflict discards its changes")
  func discarded() throws {
    try withTwoContexts { view, other, _ in
      view.automaticallyMergesChangesFromParent = false
      view.mergePolicy = .mergeByPropertyStoreTrump
      let controller = try Staff.controller(view)
      let count = controller.fetchedObjects?.count ?? 0
      let object = try #require(controller.fetchedObjects?.first)
      other.delete(other.object(with: object.objectID))
      try other.save()
      object["salary"] = 77
      let recorder = EventRecorder(view)
      try view.save()
      #expect(controller.fetchedObjects?.count == count - 1 && controller.fetchedObjects?.contains(object) == false)
      #expect(recorder.changes.contains { $0.deleted.contains(object) })
    }
  }
}
