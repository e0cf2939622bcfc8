import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Children that merge their parent's changes")
struct ChildFollowingTests {
  @Test("A child with automatic merging shows changes that a sibling saved to the parent; another child doesn't")
  func sibling() throws {
    try withStack(SampleModels.people) { stack in
      let parent = stack.context()
      let (ann, bob) = (try parent.make("Person", ["name": "Ann"]), try parent.make("Person", ["name": "Bob"]))
      try parent.save()
      let (saver, follower, other) = (
        ManagedObjectContext(parent: parent), ManagedObjectContext(parent: parent), ManagedObjectContext(parent: parent)
      )
      follower.automaticallyMergesChangesFromParent = true
      let copies = [follower, other].map { $0.object(with: ann.objectID) }
      let gone = follower.object(with: bob.objectID)
      #expect(copies.allSatisfy { $0["name"] as? String == "Ann" } && gone["name"] as? String == "Bob")
      copies[0]["salary"] = 7

      saver.object(with: ann.objectID)["name"] = "Anna"
      saver.delete(saver.object(with: bob.objectID))
      let cid = try saver.make("Person", ["name": "Cid"])
      try saver.save()
      let events = EventRecorder(follower)
      follower.processPendingChanges()
      #expect(copies[0]["name"] as? String == "Anna" && copies[0]["salary"] as? Int == 7)
      #expect(gone.isDeleted && gone.managedObjectContext === follower)
      #expect(follower.registeredObject(for: cid.objectID) != nil)
      #expect(events.changes.contains { $0.refreshed == [copies[0]] && $0.deleted == [gone] && $0.inserted.count == 1 })
      #expect(copies[1]["name"] as? String == "Ann")

      try follower.save()
      try parent.save()
      let reader = try stack.reopened().context()
      #expect(try reader.names("Person") == ["Anna", "Cid"])
      #expect(try reader.named("Person", "Anna")["salary"] as? Int == 7)
    }
  }

  @Test("A child with automatic merging shows changes that its parent saves and merges, through several levels")
  func levels() throws {
    try withStack(SampleModels.people) { stack in
      let (parent, other) = (stack.context(), stack.context())
      let child = ManagedObjectContext(parent: parent)
      let leaf = ManagedObjectContext(parent: child)
      for context in [parent, child, leaf] { context.automaticallyMergesChangesFromParent = true }
      let ann = try other.make("Person", ["name": "Ann"])
      try other.save()
      let (middle, last) = (child.object(with: ann.objectID), leaf.object(with: ann.objectID))
      #expect(middle["name"] as? String == "Ann" && last["name"] as? String == "Ann")

      parent.object(with: ann.objectID)["name"] = "Anna"
      try parent.save()
      for context in [child, leaf] { context.processPendingChanges() }
      #expect(middle["name"] as? String == "Anna" && last["name"] as? String == "Anna")

      other.refresh(ann, mergeChanges: false)
      ann["name"] = "Annie"
      try other.save()
      for context in [parent, child, leaf] { context.processPendingChanges() }
      #expect(middle["name"] as? String == "Annie" && last["name"] as? String == "Annie")
      last["name"] = "Ann"
      for context in [leaf, child, parent] { try context.save() }
      #expect(try stack.reopened().context().names("Person") == ["Ann"])
    }
  }

  @Test("Using a child at any depth is enough: contexts between it and the stores merge first", arguments: 1...3)
  func usingTheChild(depth: Int) throws {
    try withStack(SampleModels.people) { stack in
      let (root, other) = (stack.context(), stack.context())
      let ann = try other.make("Person", ["name": "Ann"])
      try other.save()
      var contexts = [root]
      for _ in 0..<depth { contexts.append(ManagedObjectContext(parent: contexts[contexts.count - 1])) }
      for context in contexts { context.automaticallyMergesChangesFromParent = true }
      let leaf = contexts[depth]
      let request = try FetchRequest("Person", where: "name BEGINSWITH 'A'", sortedBy: [.init("name")])
      let controller = FetchedResultsController(fetchRequest: request, managedObjectContext: leaf)
      try controller.performFetch()
      let held = contexts.map { $0.object(with: ann.objectID) }
      for object in held { #expect(object["name"] as? String == "Ann") }
      func names() -> [String] { (controller.fetchedObjects ?? []).compactMap { $0["name"] as? String } }

      ann["name"] = "Bea"
      try other.make("Person", ["name": "Ada"])
      try other.save()
      leaf.processPendingChanges()
      #expect(names() == ["Ada"] && held.allSatisfy { $0["name"] as? String == "Bea" })

      held[0]["name"] = "Amy"
      try root.save()
      leaf.processPendingChanges()
      #expect(names() == ["Ada", "Amy"])
    }
  }

  @Test(
    "A save of another context wakes a sequence of a child at any depth", .timeLimit(.minutes(10)), arguments: 1...3)
  @MainActor func waking(depth: Int) async throws {
    let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
    try coordinator.addInMemoryStore()
    let other = ManagedObjectContext(coordinator)
    let ann = try other.make("Person", ["name": "Ann"])
    try other.save()
    var contexts = [ManagedObjectContext(coordinator)]
    for _ in 0..<depth { contexts.append(ManagedObjectContext(parent: contexts[contexts.count - 1])) }
    for context in contexts { context.automaticallyMergesChangesFromParent = true }
    let held = contexts.map { $0.object(with: ann.objectID) }
    for object in held { #expect(object["name"] as? String == "Ann") }
    var changes = contexts[depth].objectsDidChange.makeAsyncIterator()
    let id = ann.objectID
    let saver = Task.detached {
      let late = ManagedObjectContext(coordinator)
      try await Task.sleep(for: .milliseconds(50))
      late.object(with: id)["name"] = "Zoe"
      try late.save()
    }
    let change = await changes.next(isolation: #isolation)
    try await saver.value
    #expect(change?.refreshed == [held[depth]] && held[depth]["name"] as? String == "Zoe")
  }

  @Test("Changes that a child saves to its parent concern no context of the stores until the parent is saved")
  func strangers() throws {
    try withStack(SampleModels.people) { stack in
      let (parent, stranger) = (stack.context(), stack.context())
      let ann = try parent.make("Person", ["name": "Ann"])
      try parent.save()
      stranger.automaticallyMergesChangesFromParent = true
      let copy = try stranger.named("Person", "Ann")
      let child = ManagedObjectContext(parent: parent)
      child.delete(child.object(with: ann.objectID))
      try child.save()
      stranger.processPendingChanges()
      #expect(copy.managedObjectContext === stranger)
      try parent.save()
      stranger.processPendingChanges()
      #expect(copy.isDeleted && copy.managedObjectContext === stranger)
    }
  }
}
