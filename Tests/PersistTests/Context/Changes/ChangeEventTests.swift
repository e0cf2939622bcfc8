import Foundation
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Change events")
struct ChangeEventTests {
  @Test("CHG-01: a new context has no changes and no objects; saving it succeeds")
  func newContext() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      #expect(!context.hasChanges && context.registeredObjects.isEmpty)
      try context.save()
      #expect(stack.store.commits.isEmpty)
    }
  }

  @Test("CHG-07: assigning twice to a new object and processing posts one event with just one inserted object")
  func insertion() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let events = EventRecorder(context)
      let person = try context.make("Person", ["name": "Ann"])
      person["name"] = "Anna"
      context.processPendingChanges()
      #expect(events.changes.map(\.counts) == [[1, 0, 0, 0, 0, 0]])
      #expect(events.changes.first?.inserted == [person])
      context.processPendingChanges()
      #expect(events.changes.count == 1)
    }
  }

  @Test("CHG-07: a hundred pets with an owner each, processed together, are two hundred inserted objects")
  func manyInsertions() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let events = EventRecorder(context)
      for index in 0..<100 { try context.make("Pet", ["name": "\(index)", "owner": context.make("Person")]) }
      context.processPendingChanges()
      #expect(events.changes.map(\.counts) == [[200, 0, 0, 0, 0, 0]])
    }
  }

  @Test("Later changes are posted as updates, of new objects and of both ends of a relationship")
  func updates() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let (ann, ben) = (try context.make("Person", ["name": "Ann"]), try context.make("Person", ["name": "Ben"]))
      let pet = try context.make("Pet", ["owner": ann])
      try context.save()
      let events = EventRecorder(context)
      let new = try context.make("Person")
      context.processPendingChanges()
      new["name"] = "New"
      pet["owner"] = ben
      context.processPendingChanges()
      #expect(events.changes.map(\.counts) == [[1, 0, 0, 0, 0, 0], [0, 4, 0, 0, 0, 0]])
      #expect(events.changes.last?.updated == [new, pet, ann, ben])
    }
  }

  @Test("A deletion is posted once, with its cascade; a new object deleted within the same event isn't mentioned")
  func deletions() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person")
      let pet = try context.make("Pet", ["owner": ann])
      try context.save()
      let events = EventRecorder(context)
      context.delete(try context.make("Person"))
      context.delete(ann)
      context.processPendingChanges()
      #expect(events.changes.map(\.counts) == [[0, 0, 2, 0, 0, 0]])
      #expect(events.changes.first?.deleted == [ann, pet])
      let new = try context.make("Person")
      context.processPendingChanges()
      context.delete(new)
      context.processPendingChanges()
      #expect(events.changes.last?.counts == [0, 0, 1, 0, 0, 0])
    }
  }

  @Test("CHG-08: a reset posts all registered objects as invalidated, and nothing else")
  func reset() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let person = try context.make("Person")
      try context.save()
      person["name"] = "unsaved"
      let events = EventRecorder(context)
      context.reset()
      #expect(events.changes.map(\.counts) == [[0, 0, 0, 0, 0, 1]])
      #expect(events.changes.first?.invalidatedAll == [person])
    }
  }

  @Test("CHG-08: refreshing all objects posts every registered one as refreshed, and nothing else")
  func refreshAll() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let people = try (0..<3).map { try context.make("Person", ["salary": $0]) }
      try context.save()
      people[0]["salary"] = 9
      let events = EventRecorder(context)
      context.processPendingChanges()
      events.forget()
      context.refreshAllObjects()
      #expect(events.changes.map(\.counts) == [[0, 0, 0, 3, 0, 0]])
      context.refresh(people[1], mergeChanges: false)
      #expect(events.changes.last?.refreshed == [people[1]])
    }
  }

  @Test("A rollback posts the objects that were removed, restored, and reset to their stored values")
  func rollback() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let (ann, ben) = (try context.make("Person", ["name": "Ann"]), try context.make("Person", ["name": "Ben"]))
      try context.save()
      let events = EventRecorder(context)
      ann["name"] = "Anna"
      context.delete(ben)
      let new = try context.make("Person")
      context.processPendingChanges()
      events.forget()
      context.rollback()
      #expect(events.changes.map(\.counts) == [[1, 0, 1, 1, 0, 0]])
      let told = try #require(events.changes.first)
      #expect(told.inserted == [ben] && told.deleted == [new] && told.refreshed == [ann])
    }
  }

  @Test("Pending changes are processed before a fetch, before a save, and again after its hooks")
  func moments() throws {
    final class Stamped: ManagedObject {
      override func willSave() { if self["salary"] == nil { self["salary"] = 1 } }
    }
    try withStack(SampleModels.people) { stack in
      let context = stack.context(classes: ["Person": Stamped.self])
      let events = EventRecorder(context)
      _ = Stamped(context: context)
      _ = try context.count(for: FetchRequest("Person"))
      #expect(events.order == ["change"])
      try context.make("Person")
      try context.save()
      #expect(events.order == ["change", "change", "willSave", "change", "didSave"])
      #expect(events.changes.map(\.counts) == [[1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0]])
    }
  }

  @Test("Changes made by an observer are posted after the event being observed, to all observers in the same order")
  func changesByObservers() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let answer = context.observe { event in
        guard case .objectsDidChange(let changes) = event, changes.inserted.count == 1 else { return }
        for person in changes.inserted { person["name"] = "stamped" }
        context.processPendingChanges()
      }
      let events = EventRecorder(context)
      try context.make("Person")
      context.processPendingChanges()
      #expect(events.changes.map(\.counts) == [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]])
      withExtendedLifetime(answer) {}
    }
  }

  @Test("An observer that starts late receives every unsaved change with its first event")
  func lateObserver() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let (ann, ben) = (try context.make("Person"), try context.make("Person"))
      try context.save()
      ann["name"] = "Ann"
      context.delete(ben)
      try context.make("Person")
      let events = EventRecorder(context)
      context.processPendingChanges()
      #expect(events.changes.map(\.counts) == [[1, 1, 1, 0, 0, 0]])
      ann["name"] = "Anna"
      context.processPendingChanges()
      #expect(events.changes.last?.counts == [0, 1, 0, 0, 0, 0])
    }
  }
}
