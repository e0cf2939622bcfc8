import Foundation
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Merging changes saved by another context")
struct MergeChangesTests {
  /// A view context and a background context of one store, and the changes saved by the latter.
  private struct Scene {
    let stack: TestStack
    let view: ManagedObjectContext
    let background: ManagedObjectContext
    private let saves: EventRecorder

    init(_ stack: TestStack) {
      self.stack = stack
      view = stack.context()
      background = stack.context()
      saves = EventRecorder(background)
    }

    /// Saves the background context, and merges its changes into the view context.
    func saveAndMerge() throws {
      try background.save()
      view.mergeChanges(from: try #require(saves.saves.last?.savedChanges))
    }
  }

  private func withScene(
    _ model: ModelDescription = SampleModels.people, _ body: (Scene) throws -> Void
  ) throws {
    try withStack(model) { try body(Scene($0)) }
  }

  @Test("A merge advances the replicas of the open stores, and not those of a removed one")
  func replicas() throws {
    try withStack(SampleModels.people) { stack in
      let view = stack.context()
      view.readsFromReplicas = true
      let alice = try view.make("Person", ["name": "Alice"])
      try view.save()
      let changes = SavedChanges(updated: [alice.objectID])
      view.mergeChanges(from: changes)
      #expect(stack.store.advances == 1)
      try stack.coordinator.remove(try #require(stack.coordinator.persistentStores.first))
      let added = try TestStack(stack.model, at: stack.url).store
      try stack.coordinator.add(added)
      view.reset()
      view.mergeChanges(from: changes)
      #expect(stack.store.advances == 1 && added.advances == 1)
      try #expect(view.names("Person") == ["Alice"])
    }
  }

  @Test("CHG-11: a merged change can be read, and a merged insert is registered and can be read")
  func changeAndInsert() throws {
    try withScene { scene in
      let alice = try scene.background.make("Person", ["name": "Alice"])
      try scene.background.save()
      let copy = try scene.view.named("Person", "Alice")
      alice["name"] = "Alicia"
      try scene.saveAndMerge()
      #expect(copy["name"] as? String == "Alicia")
      let bob = try scene.background.make("Person", ["name": "Bob"])
      try scene.saveAndMerge()
      #expect(scene.view.registeredObject(for: bob.objectID)?["name"] as? String == "Bob")
    }
  }

  @Test("CHG-13: one deleted, one changed, one inserted elsewhere: 2 registered, 0 inserted, 1 deleted, the new value")
  func everything() throws {
    try withScene { scene in
      let (ann, ben) = (
        try scene.background.make("Person", ["name": "Ann"]), try scene.background.make("Person", ["name": "Ben"])
      )
      try scene.background.save()
      let held = try scene.view.fetch(FetchRequest("Person", sortedBy: "name"))
      #expect(held.map { $0["name"] as? String } == ["Ann", "Ben"])
      scene.background.delete(ann)
      ben["name"] = "Benny"
      try scene.background.make("Person", ["name": "Cleo"])
      try scene.saveAndMerge()
      #expect(scene.view.registeredObjects.count == 2 && scene.view.insertedObjects.isEmpty)
      #expect(scene.view.deletedObjects == [held[0]] && held[0].isDeleted)
      #expect(held[1]["name"] as? String == "Benny" && !scene.view.hasChanges)
    }
  }

  @Test("CHG-14: merging posts 2 refreshed, 0 updated and 1 inserted object; there is nothing to save")
  func events() throws {
    try withScene { scene in
      let people = try ["Ann", "Ben"].map { try scene.background.make("Person", ["name": $0]) }
      try scene.background.save()
      let held = try scene.view.fetch(FetchRequest("Person"))
      let events = EventRecorder(scene.view)
      nonisolated(unsafe) var merged: [[String: Int]] = []
      // Posted on this test's own thread.
      let observer = NotificationCenter.default.addObserver(
        forName: ManagedObjectContext.didMergeChangesObjectIDsNotification, object: scene.view, queue: nil
      ) { note in
        merged.append(
          (note.userInfo ?? [:]).reduce(into: [:]) { counts, entry in
            guard let key = entry.key as? String, let ids = entry.value as? Set<ManagedObjectID> else { return }
            counts[key] = ids.count
          })
      }
      defer { NotificationCenter.default.removeObserver(observer) }
      for person in people { person["salary"] = 1 }
      try scene.background.make("Person", ["name": "Cleo"])
      try scene.saveAndMerge()
      #expect(events.changes.count == 1)
      let change = try #require(events.changes.first)
      #expect(change.refreshed == Set(held) && change.updated.isEmpty && change.inserted.count == 1)
      #expect(change.deleted.isEmpty)
      let counts = ["inserted_objectIDs": 1, "updated_objectIDs": 2, "refreshed_objectIDs": 2, "deleted_objectIDs": 0]
      #expect(merged == [counts])
      #expect(!scene.view.hasChanges)
      try scene.view.save()
      #expect(events.saves.map(\.savedChanges.isEmpty) == [true])
    }
  }

  @Test("Unsaved changes overlay the merged ones, property by property, and no longer conflict with them")
  func pendingChanges() throws {
    try withScene { scene in
      let alice = try scene.background.make("Person", ["name": "Alice", "salary": 1])
      try scene.background.save()
      let copy = try scene.view.named("Person", "Alice")
      copy["salary"] = 7
      alice["name"] = "Alicia"
      alice["salary"] = 2
      try scene.saveAndMerge()
      #expect(copy["name"] as? String == "Alicia" && copy["salary"] as? Int == 7)
      #expect(copy.changedPropertyNames == ["salary"])
      try scene.view.save()
      let fresh = try scene.stack.reopened().context().named("Person", "Alicia")
      #expect(fresh["salary"] as? Int == 7)
    }
  }

  @Test("An object deleted by others is removed with its unsaved changes; if deleted by both, there is nothing to save")
  func deletions() throws {
    try withScene { scene in
      let people = try ["Ann", "Ben"].map { try scene.background.make("Person", ["name": $0]) }
      try scene.background.save()
      let (ann, ben) = (try scene.view.named("Person", "Ann"), try scene.view.named("Person", "Ben"))
      ann["salary"] = 3
      scene.view.delete(ben)
      for person in people { scene.background.delete(person) }
      try scene.saveAndMerge()
      #expect(!scene.view.hasChanges && ann.isDeleted && scene.view.registeredObjects.isEmpty)
      #expect(ann["name"] as? String == "Ann")
      try scene.view.save()
    }
  }

  @Test("A pending deletion remains when others have changed the row, and can be saved")
  func deletedHere() throws {
    try withScene { scene in
      let ann = try scene.background.make("Person", ["name": "Ann"])
      try scene.background.save()
      scene.view.delete(try scene.view.named("Person", "Ann"))
      ann["salary"] = 3
      try scene.saveAndMerge()
      try scene.view.save()
      #expect(try scene.stack.reopened().context().names("Person") == [])
    }
  }

  @Test("Relationships agree on both sides after a merge, unsaved members included")
  func relationships() throws {
    try withScene(SampleModels.pets) { scene in
      let (ann, ben) = (
        try scene.background.make("Person", ["name": "Ann"]), try scene.background.make("Person", ["name": "Ben"])
      )
      let rex = try scene.background.make("Pet", ["name": "Rex", "owner": ann])
      try scene.background.save()
      let owners = try ["Ann", "Ben"].map { try scene.view.named("Person", $0) }
      #expect(try owners.map { try $0.names("pets") } == [["Rex"], []])
      try scene.view.make("Pet", ["name": "Max", "owner": owners[1]])
      rex["owner"] = ben
      try scene.saveAndMerge()
      #expect(try owners.map { try $0.names("pets") } == [[], ["Max", "Rex"]])
      #expect(try scene.view.named("Pet", "Rex").one("owner") === owners[1])
    }
  }

  @Test("Faults are only notified that their rows are outdated: nothing is read for them")
  func faults() throws {
    try withScene { scene in
      let people = try (0..<20).map { try scene.background.make("Person", ["name": "\($0)"]) }
      try scene.background.save()
      let held = try scene.view.fetch(FetchRequest("Person"))
      for person in people { person["salary"] = 5 }
      try scene.background.save()
      let calls = scene.stack.store.calls
      scene.view.mergeChanges(from: SavedChanges(updated: Set(people.map(\.objectID))))
      #expect(scene.stack.store.calls == calls && held.allSatisfy(\.isFault))
      #expect(held.allSatisfy { $0["salary"] as? Int == 5 })
    }
  }

  @Test("The rows of all other objects are read together, and those of unregistered objects aren't read")
  func cost() throws {
    try withScene { scene in
      let people = try (0..<300).map { try scene.background.make("Person", ["name": "\($0)"]) }
      try scene.background.save()
      let held = try scene.view.fetch(FetchRequest("Person", limit: 200))
      for object in held { _ = object["name"] }
      for person in people { person["salary"] = 5 }
      let calls = scene.stack.store.calls
      try scene.saveAndMerge()
      #expect(scene.stack.store.calls == calls + 2)
      #expect(held.allSatisfy { !$0.isFault && $0["salary"] as? Int == 5 })
      #expect(scene.view.registeredObjects.count == 200)
    }
  }

  @Test("The contents of a notification are merged, whether objects or identifiers")
  func notifications() throws {
    try withScene { scene in
      let ann = try scene.background.make("Person", ["name": "Ann"])
      try scene.background.save()
      let copy = try scene.view.named("Person", "Ann")
      for (name, key, value) in [
        (ManagedObjectContext.didSaveObjectsNotification, "updated", Set([ann]) as Any),
        (ManagedObjectContext.didSaveObjectIDsNotification, "updated_objectIDs", Set([ann.objectID]) as Any),
      ] {
        ann["name"] = "Ann\(key)"
        try scene.background.save()
        scene.view.mergeChanges(
          fromContextDidSave: Notification(name: name, object: scene.background, userInfo: [key: value]))
        #expect(copy["name"] as? String == "Ann\(key)")
      }
    }
  }

  @Test("BAT-02: rows deleted outside the contexts are merged by their identifiers, into several contexts")
  func remote() throws {
    try withScene { scene in
      let people = try (0..<3).map { try scene.background.make("Person", ["name": "\($0)"]) }
      try scene.background.save()
      let contexts = [scene.view, scene.stack.context()]
      let held = try contexts.map { try $0.fetch(FetchRequest("Person")) }
      let ids = people.map(\.objectID)
      for person in people { scene.background.delete(person) }
      try scene.background.save()
      ManagedObjectContext.mergeChanges(
        fromRemoteContextSave: ["deleted_objectIDs": [ids[0], ids[1]], "deleted": [ids[2].uriRepresentation()]],
        into: contexts)
      for (context, held) in zip(contexts, held) {
        #expect(try context.count(for: FetchRequest("Person")) == 0)
        #expect(context.registeredObjects.isEmpty && held.allSatisfy(\.isDeleted))
      }
    }
  }

  @Test("HIS-02: merged inserts are posted, and registered only for that long")
  func remoteInserts() throws {
    try withScene { scene in
      let ann = try scene.background.make("Person", ["name": "Ann"])
      try scene.background.save()
      var inserted: [Int] = []
      // Posted on this test's own thread; retained no longer than posting takes.
      let observation = scene.view.observe { event in
        if case .objectsDidChange(let changes) = event { inserted.append(changes.inserted.count) }
      }
      ManagedObjectContext.mergeChanges(
        fromRemoteContextSave: SavedChanges(inserted: [ann.objectID]), into: [scene.view])
      #expect(inserted == [1] && scene.view.registeredObjects.isEmpty)
      withExtendedLifetime(observation) {}
    }
  }

  @Test("FLT-07: there is no row cache: after a write outside the context, a refresh shows the store's contents")
  func refresh() throws {
    try withScene { scene in
      try scene.background.make("Person", ["name": "FIAT"])
      try scene.background.save()
      let car = try scene.view.named("Person", "FIAT")
      let other = PersistentStoreCoordinator(model: scene.stack.model)
      try other.addStore(at: scene.stack.url)
      let elsewhere = ManagedObjectContext(other)
      try elsewhere.named("Person", "FIAT")["name"] = "FCA"
      try elsewhere.save()
      #expect(car["name"] as? String == "FIAT")
      scene.view.refresh(car, mergeChanges: true)
      #expect(car["name"] as? String == "FCA")
    }
  }
}
