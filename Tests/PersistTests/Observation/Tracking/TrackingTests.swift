import Foundation
import Observation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Observers are notified of changes to objects they have read, from every source, and of nothing else.
@Suite("Observation of objects")
struct TrackingTests {
  @Test("An attribute notifies its observer however it was read, and another one doesn't")
  func attributes() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let person = try context.make("Person", ["name": "Ann", "salary": 1])
      try context.save()
      for way in TrackedReading.Way.allCases {
        let name = try tracking { try TrackedReading.property("name", way).read(person) { _ in } }
        let salary = try tracking { try TrackedReading.property("salary", way).read(person) { _ in } }
        person["name"] = "Bea \(way)"
        #expect((name.told.count, salary.told.count) == (1, 0))
        person["name"] = "Once more"
        #expect(name.told.count == 1)
        try person.setPrimitiveValue(way.hashValue % 100, forKey: "salary")
        #expect(salary.told.count == 1)
      }
    }
  }

  @Test("Both sides of relationships notify, ordered ones of a new order, and a membership test too")
  func relationships() throws {
    try withStack(SampleModels.shapes) { stack in
      let context = stack.context()
      let (old, new) = (try context.make("Node"), try context.make("Node"))
      let (first, second) = (try context.make("Node"), try context.make("Node"))
      first["parent"] = old
      second["parent"] = old
      try context.save()
      let parent = try tracking { first.one("parent") }
      let stays = try tracking { second.one("parent") }
      let loses = try tracking { try old.many("children").count }
      let gains = try tracking { try new.many("children").map(\.self) }
      let isMember = try tracking { try new.many("children").contains(first) }
      let unrelated = try tracking { try old.many("friends").count }
      try new.many("children").insert(first)
      #expect([parent.told, loses.told, gains.told, isMember.told].map(\.count) == [1, 1, 1, 1])
      #expect([stays.told, unrelated.told].map(\.count) == [0, 0])

      second["parent"] = new
      let order = try tracking { try new.many("children").firstIndex(of: second) }
      try new.many("children").insert(second, at: 0)
      #expect(order.told.count == 1)
      let friends = try tracking { try first.many("friends").isEmpty }
      try second.many("friends").insert(first)
      #expect(friends.told.count == 1)
    }
  }

  @Test(
    "A deleted object's relationship notifies when a new object that it still leads to is deleted too",
    arguments: [true, false])
  func departure(hasPermanentID: Bool) throws {
    try withStack(SampleModels.shapes) { stack in
      let context = stack.context()
      let node = try context.make("Node")
      try context.save()
      let friend = try context.make("Node")
      if hasPermanentID { try context.obtainPermanentIDs(for: [friend]) }
      try node.many("friends").insert(friend)
      node["spouse"] = friend
      context.delete(node)
      let readings = try ["friends", "spouse"].map { name in
        try tracking { try TrackedReading.property(name, .key).read(node) { _ in } }
      }
      context.delete(friend)
      for (reading, name) in zip(readings, ["friends", "spouse"]) {
        let now = try TrackedReading.property(name, .key).read(node) { _ in }
        #expect(now == reading.result || reading.told.count == 1)
      }
    }
  }

  @Test("A deleted object's relationship notifies when a child brings back a new object that it still leads to")
  func comingBack() throws {
    try withStack(SampleModels.shapes) { stack in
      let context = stack.context()
      let node = try context.make("Node")
      try context.save()
      let friend = try context.make("Node")
      try node.many("friends").insert(friend)
      node["spouse"] = friend
      context.delete(node)
      let child = ManagedObjectContext(parent: context)
      child.undoManager = .init()
      child.delete(child.object(with: friend.objectID))
      try child.save()
      let readings = try ["friends", "spouse"].map { name in
        try tracking { try TrackedReading.property(name, .key).read(node) { _ in } }
      }
      child.undo()
      try child.save()
      #expect(friend.managedObjectContext === context)
      for (reading, name) in zip(readings, ["friends", "spouse"]) {
        let now = try TrackedReading.property(name, .key).read(node) { _ in }
        #expect(now != reading.result && reading.told.count == 1)
      }
    }
  }

  @Test("A part of a composite and a transient attribute notify")
  func otherAttributes() throws {
    try withStack(SampleModels.types) { stack in
      let context = stack.context()
      let thing = try context.make("Sample")
      let part = try tracking { try thing.value(forKeyPath: "location.x") }
      try thing.setValue(1.5, forKeyPath: "location.y")
      #expect(part.told.count == 1)
    }
    try withStack(SampleModels.pets) { stack in
      let person = try stack.context().make("Person")
      let shown = try tracking { person["displayName"] }
      person["displayName"] = "Ann"
      #expect(shown.told.count == 1)
    }
  }

  @Test("Deleting notifies observers of the state, and saving the deletion all observers of the object")
  func deletion() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let (person, pet) = (try context.make("Person"), try context.make("Pet"))
      pet["owner"] = person
      try context.save()
      let state = try tracking { person.isDeleted }
      let cascaded = try tracking { pet.hasChanges }
      let name = try tracking { person["name"] }
      context.delete(person)
      #expect((state.told.count, cascaded.told.count, name.told.count) == (1, 1, 0))
      try context.save()
      #expect(name.told.count == 1)
    }
  }

  @Test("A to-one without an inverse notifies when its deleted destination leaves the context")
  func departedDestination() throws {
    try withStack(RandomGraph.model) { stack in
      let context = stack.context()
      let (node, tag) = (try context.make("Node"), try context.make("Tag"))
      node["favourite"] = tag
      try context.save()
      let shown = try tracking { node["favourite"] }
      context.delete(tag)
      #expect(shown.told.count == 0)
      try context.save()
      #expect(shown.told.count == 1)
    }
  }

  @Test("Others' saved changes and deletions notify when merged, property by property")
  func merging() throws {
    try withStack(SampleModels.people) { stack in
      let (context, other) = (stack.context(), stack.context())
      context.automaticallyMergesChangesFromParent = true
      let person = try context.make("Person", ["name": "Ann", "salary": 1])
      try context.save()
      let name = try tracking { person["name"] }
      let salary = try tracking { person["salary"] }
      let state = try tracking { person.isDeleted }
      let theirs = other.object(with: person.objectID)
      theirs["name"] = "Bea"
      try other.save()
      #expect(name.told.count == 0)
      context.processPendingChanges()
      #expect((name.told.count, salary.told.count, state.told.count) == (1, 0, 0))
      other.delete(theirs)
      try other.save()
      context.processPendingChanges()
      #expect((salary.told.count, state.told.count) == (1, 1))
    }
  }

  @Test("Refreshing, undoing, redoing, rolling back and resetting notify")
  func discarding() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      context.undoManager = .init()
      let person = try context.make("Person", ["name": "Ann"])
      try context.save()
      func expectTold(_ way: String, _ work: () throws -> Void) throws {
        let name = try tracking { person["name"] }
        try work()
        #expect(name.told.count == 1, "\(way)")
      }
      person["name"] = "Bea"
      try expectTold("undo") { context.undo() }
      try expectTold("redo") { context.redo() }
      try expectTold("rollback") { context.rollback() }
      try expectTold("refresh") { context.refresh(person, mergeChanges: false) }
      let other = stack.context()
      other.object(with: person.objectID)["name"] = "Cis"
      try other.save()
      try expectTold("refresh with changes") { context.refresh(person, mergeChanges: true) }
      try expectTold("refresh of all") { context.refreshAllObjects() }
      try expectTold("reset") { context.reset() }
    }
  }

  @Test("A child's save notifies the parent's observers, and a child that merges automatically notifies its own")
  func children() throws {
    try withStack(SampleModels.people) { stack in
      let parent = stack.context()
      let person = try parent.make("Person", ["name": "Ann", "salary": 1])
      try parent.save()
      let child = ManagedObjectContext(parent: parent)
      child.automaticallyMergesChangesFromParent = true
      let name = try tracking { person["name"] }
      let salary = try tracking { person["salary"] }
      let draft = child.object(with: person.objectID)
      draft["name"] = "Bea"
      #expect(name.told.count == 0)
      try child.save()
      #expect((name.told.count, salary.told.count) == (1, 0))
      let drafted = try tracking { draft["salary"] }
      person["salary"] = 2
      try parent.save()
      child.processPendingChanges()
      #expect(drafted.told.count == 1)
    }
  }

  @Test("A save notifies of the state, the version and the identifier, and of a value only if it changes")
  func saving() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      context.mergePolicy = .mergeByPropertyStoreTrump
      let person = try context.make("Person", ["name": "Ann", "salary": 1])
      let observers = [
        try tracking { person.isInserted }.told, try tracking { person.version }.told,
        try tracking { person.objectID }.told,
      ]
      let name = try tracking { person["name"] }
      try context.save()
      #expect(observers.map(\.count) == [1, 1, 1])
      #expect(name.told.count == 0)

      let other = stack.context()
      other.object(with: person.objectID)["name"] = "Bea"
      try other.save()
      person["salary"] = 2
      let salary = try tracking { person["salary"] }
      try context.save()
      #expect((name.told.count, salary.told.count) == (1, 0))
    }
  }

  @Test("A fetch under observation doesn't observe the values that it compares")
  func fetching() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      for name in ["Ann", "Bea"] { try context.make("Person", ["name": name, "salary": 1]) }
      try context.save()
      let people = try context.fetch(FetchRequest("Person"))
      for person in people { person["salary"] = 2 }
      let new = try context.make("Person", ["name": "Cis", "salary": 2])
      let fetch = try tracking {
        var request = FetchRequest<ManagedObject>("Person", sortedBy: "salary")
        request.predicate = try FetchPredicate(format: "salary == 2 AND name BEGINSWITH 'A'", argumentArray: [])
        return try context.fetch(request).count
      }
      #expect(fetch.result == 1)
      for person in people + [new] { person["salary"] = 3 }
      #expect(fetch.told.count == 0)
    }
  }

  @Test("An attribute's observer sees the old value, and that of a relationship sees both sides consistent")
  func moments() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let (person, pet) = (try context.make("Person", ["name": "Ann"]), try context.make("Pet"))
      nonisolated(unsafe) let (owner, owned) = (person, pet)
      nonisolated(unsafe) var seen: [String] = []
      withObservationTracking {
        _ = person["name"]
      } onChange: {
        seen.append(owner["name"] as? String ?? "")
      }
      person["name"] = "Bea"
      #expect(seen == ["Ann"])
      withObservationTracking {
        _ = try? person.many("pets").count
      } onChange: {
        seen.append("\((try? owner.many("pets").count) ?? 0) \(owned["owner"] != nil)")
      }
      pet["owner"] = person
      #expect(seen.last == "1 true")
    }
  }
}
