import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Automatic merging")
struct AutomaticMergingTests {
  @Test("A context with automatic merging shows others' saves on its next use")
  func entryPoints() throws {
    try withStack(SampleModels.people) { stack in
      let (view, background) = (stack.context(), stack.context())
      let ann = try background.make("Person", ["name": "Ann"])
      try background.save()
      let copy = try view.named("Person", "Ann")
      #expect(!view.automaticallyMergesChangesFromParent)
      view.automaticallyMergesChangesFromParent = true
      for (name, use) in [
        ("fetch", { _ = try view.fetch(FetchRequest("Person")) }),
        ("count", { _ = try view.count(for: FetchRequest("Person")) }),
        ("process", { view.processPendingChanges() }), ("save", { try view.save() }),
        ("refresh", { view.refreshAllObjects() }),
      ] as [(String, () throws -> Void)] {
        ann["name"] = name
        try background.save()
        try use()
        #expect(copy["name"] as? String == name)
      }
      view.automaticallyMergesChangesFromParent = false
      ann["name"] = "unseen"
      try background.save()
      _ = try view.fetch(FetchRequest("Person"))
      #expect(copy["name"] as? String == "refresh")
    }
  }

  @Test("Several saves are merged as one: the last value, no short-lived object, none of its own saves")
  func several() throws {
    try withStack(SampleModels.people) { stack in
      let (view, background) = (stack.context(), stack.context())
      view.automaticallyMergesChangesFromParent = true
      let ann = try background.make("Person", ["name": "Ann"])
      try background.save()
      let brief = try background.make("Person", ["name": "brief"])
      ann["name"] = "Anna"
      try background.save()
      background.delete(brief)
      try background.save()
      let events = EventRecorder(view)
      view.processPendingChanges()
      #expect(events.changes.map { $0.inserted.compactMap { $0["name"] as? String } } == [["Anna"]])
      try view.make("Person", ["name": "own"])
      try view.save()
      view.processPendingChanges()
      #expect(events.changes.count == 2)
    }
  }

  @Test("Two contexts that set the same value conflict even if they merge, so that no increment is lost")
  func sameValue() throws {
    try withStack(SampleModels.people) { stack in
      let (context, other) = (stack.context(), stack.context())
      let ann = try context.make("Person", ["name": "Ann", "salary": 30])
      try context.save()
      context.automaticallyMergesChangesFromParent = true
      ann["salary"] = 31
      other.object(with: ann.objectID)["salary"] = 31
      try other.save()
      context.processPendingChanges()
      #expect(throws: PersistenceError.self) { try context.save() }
    }
  }

  @Test("A relationship that others have set alike is merged, and follows them afterwards")
  func sameEnd() throws {
    try withStack(PlainSchema.model) { stack in
      let (context, other) = (stack.context(), stack.context())
      let (node, spouse) = (try context.make("Node", ["name": "a"]), try context.make("Node", ["name": "b"]))
      node["spouse"] = spouse
      try context.save()
      context.automaticallyMergesChangesFromParent = true
      node["spouse"] = nil
      let theirs = try other.named("Node", "a")
      theirs["spouse"] = nil
      try other.save()
      context.processPendingChanges()
      theirs["spouse"] = try other.named("Node", "b")
      try other.save()
      context.processPendingChanges()
      #expect(node.one("spouse") === spouse && spouse.one("spouse") === node)
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Node", "b").one("spouse")?["name"] as? String == "a")
    }
  }

  @Test("Merging doesn't lose a change that others changed too: the save detects the conflict")
  func overtaken() throws {
    try withStack(SampleModels.people) { stack in
      let (view, background) = (stack.context(), stack.context())
      let ann = try background.make("Person", ["name": "Ann", "salary": 10])
      try background.save()
      view.automaticallyMergesChangesFromParent = true
      let copy = try view.named("Person", "Ann")
      func overtake(_ salary: Int, by other: Int) throws {
        copy["salary"] = salary
        ann["salary"] = other
        try background.save()
        _ = try view.count(for: FetchRequest("Person"))
      }

      try overtake(11, by: 12)
      #expect(#expect(throws: PersistenceError.self) { try view.save() }?.code == .mergeConflict)
      #expect(copy["salary"] as? Int == 11)
      view.rollback()
      view.processPendingChanges()
      #expect(copy["salary"] as? Int == 12)

      background.refreshAllObjects()
      try overtake(13, by: 14)
      view.mergePolicy = .mergeByPropertyObjectTrump
      try view.save()
      try #expect(stack.context().named("Person", "Ann")["salary"] as? Int == 13)

      background.refreshAllObjects()
      copy["salary"] = 15
      ann["name"] = "Anna"
      try background.save()
      view.mergePolicy = .error
      try view.save()
      let stored = try stack.context().named("Person", "Anna")
      #expect(stored["salary"] as? Int == 15)
    }
  }

  @Test("A save without receivers creates no list of changes")
  func nobody() throws {
    try withStack(SampleModels.people) { stack in
      #expect(!stack.coordinator.savedChangesPost.hasReceivers)
      var view: ManagedObjectContext? = stack.context()
      view?.automaticallyMergesChangesFromParent = true
      #expect(stack.coordinator.savedChangesPost.hasReceivers)
      view?.automaticallyMergesChangesFromParent = false
      #expect(!stack.coordinator.savedChangesPost.hasReceivers)
      view = nil
    }
  }

  @Test("An unread mailbox keeps a limited number of identifiers; the context then compares every object")
  func overfull() throws {
    try withStack(SampleModels.people) { stack in
      let (view, background) = (stack.context(), stack.context())
      let ann = try background.make("Person", ["name": "Ann"])
      try background.save()
      let copy = try view.named("Person", "Ann")
      view.automaticallyMergesChangesFromParent = true
      ann["name"] = "Anna"
      try background.save()
      view.mailbox.post(
        SavedChanges(
          inserted: Set((1...60_000).map {
            ManagedObjectID(entityName: "Person", storeIdentifier: "elsewhere", key: .permanent($0))
          })))
      #expect(copy["name"] as? String == "Ann")
      view.processPendingChanges()
      #expect(copy["name"] as? String == "Anna")
    }
  }

  @Test("If changes can't be read, the error is thrown once, and the changes are merged as soon as they can be read")
  func passingError() throws {
    try withStack(SampleModels.people) { stack in
      let (view, background) = (stack.context(), stack.context())
      let ann = try background.make("Person", ["name": "Ann"])
      try background.save()
      let copy = try view.named("Person", "Ann")
      view.automaticallyMergesChangesFromParent = true
      ann["name"] = "Anna"
      try background.save()
      stack.store.failReading(with: PersistenceError(.storeBusy, "Busy."), PersistenceError(.storeBusy, "Still busy."))
      view.processPendingChanges()
      #expect(persistError { try view.throwDeferredError() }?.message == "Busy.")
      view.processPendingChanges()
      try view.throwDeferredError()
      #expect(copy["name"] as? String == "Ann")
      view.processPendingChanges()
      try view.throwDeferredError()
      #expect(copy["name"] as? String == "Anna" && view.mailbox.content == nil)
    }
  }

  @Test("Awaiting a context's changes reports saves on other tasks as they happen") @MainActor
  func awaited() async throws {
    try await withTemporaryFolder { folder in
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
      try coordinator.addStore(at: folder.appendingPathComponent("Store.sqlite"))
      let view = ManagedObjectContext(coordinator)
      view.automaticallyMergesChangesFromParent = true
      let changes = view.objectsDidChange
      let background = Task.detached {
        let context = ManagedObjectContext(coordinator)
        try context.make("Person", ["name": "Ann"])
        try context.save()
      }
      var next = changes.makeAsyncIterator()
      let change = await next.next(isolation: #isolation)
      #expect(change?.inserted.map { $0["name"] as? String } == ["Ann"])
      try await background.value
    }
  }

  @Test("A context with continuous merging follows other tasks without being used, until its task is canceled")
  @MainActor
  func continuous() async throws {
    try await withTemporaryFolder { folder in
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
      try coordinator.addStore(at: folder.appendingPathComponent("Store.sqlite"))
      let view = ManagedObjectContext(coordinator)
      let ann = try view.make("Person", ["name": "Ann"])
      try view.save()
      let id = ann.objectID
      let merging = Task { await view.mergeChangesContinuously(checkingEvery: .seconds(3600)) }
      while !view.automaticallyMergesChangesFromParent { await Task.yield() }
      try await Task.detached {
        let context = ManagedObjectContext(coordinator)
        try context.existingObject(with: id)["name"] = "Anna"
        try context.save()
      }.value
      while ann["name"] as? String != "Anna" { await Task.yield() }
      merging.cancel()
      await merging.value
    }
  }
}

@Suite("Changes made outside the coordinator")
struct ForeignChangesTests {
  private func withStore(_ body: (URL, PersistentStoreCoordinator, ManagedObjectContext) throws -> Void) throws {
    try withTemporaryStore { url in
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
      try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      for name in ["Ann", "Ben", "Cleo"] { try context.make("Person", ["name": name, "salary": 1]) }
      try context.save()
      try body(url, coordinator, context)
    }
  }

  private func names(_ objects: [ManagedObject]) -> [String?] { objects.map { $0["name"] as? String } }

  @Test("Changes saved by another coordinator of the process are merged")
  func otherCoordinator() throws {
    try withStore { url, coordinator, context in
      let held = try context.fetch(FetchRequest("Person", sortedBy: "name"))
      _ = names(held)
      context.automaticallyMergesChangesFromParent = true
      let other = PersistentStoreCoordinator(model: coordinator.managedObjectModel)
      try other.addStore(at: url)
      let elsewhere = ManagedObjectContext(other)
      try elsewhere.named("Person", "Ben")["name"] = "Benny"
      elsewhere.delete(try elsewhere.named("Person", "Cleo"))
      try elsewhere.save()
      let events = EventRecorder(context)
      context.processPendingChanges()
      #expect(names(Array(held.prefix(2))) == ["Ann", "Benny"] && held[2].isDeleted)
      #expect(events.changes.map(\.refreshed) == [[held[1]]] && events.changes.map(\.deleted) == [[held[2]]])
      context.processPendingChanges()
      #expect(events.changes.count == 1)
    }
  }

  @Test("Changes written by another process are merged beneath unsaved changes")
  func otherProcess() throws {
    try withStore { url, coordinator, context in
      let held = try context.fetch(FetchRequest("Person", sortedBy: "name"))
      _ = names(held)
      context.automaticallyMergesChangesFromParent = true
      held[0]["salary"] = 9
      try ForeignSQL.run(named: "UPDATE ZPERSON SET ZNAME = ZNAME || '2', Z_OPT = Z_OPT + 1 WHERE ZNAME < 'C'", at: url)
      context.processPendingChanges()
      #expect(names(held) == ["Ann2", "Ben2", "Cleo"])
      #expect(held.map { $0["salary"] as? Int } == [9, 1, 1])
      try context.save()
      try ForeignSQL.run(named: "DELETE FROM ZPERSON WHERE ZNAME = 'Cleo'", at: url)
      #expect(try context.count(for: FetchRequest("Person")) == 2 && held[2].isDeleted)
    }
  }

  @Test("A save that encounters changes written by another process is a conflict like any other")
  func conflict() throws {
    try withStore { url, _, context in
      let ann = try context.named("Person", "Ann")
      _ = ann["salary"]
      try ForeignSQL.run(named: "UPDATE ZPERSON SET ZSALARY = 5, Z_OPT = Z_OPT + 1 WHERE ZNAME = 'Ann'", at: url)
      ann["name"] = "Anna"
      #expect(persistError { try context.save() }?.mergeConflicts.first?.cachedSnapshot?["salary"] == 5)
      context.mergePolicy = .mergeByPropertyObjectTrump
      try context.save()
      #expect(ann["name"] as? String == "Anna" && ann["salary"] as? Int == 5)
    }
  }

  @Test("Changes in a part of the history that can't be read are found by comparing objects")
  func damagedHistory() throws {
    try withHistory { coordinator, url in
      let context = ManagedObjectContext(coordinator)
      let team = try context.make("Team", ["name": "Ann"])
      try context.save()
      context.automaticallyMergesChangesFromParent = true
      let other = PersistentStoreCoordinator(model: coordinator.managedObjectModel)
      try other.addStore(at: url)
      let elsewhere = ManagedObjectContext(other)
      try elsewhere.named("Team", "Ann")["name"] = "Anna"
      try elsewhere.save()
      try ForeignSQL.run(named: "UPDATE ACHANGE SET ZCHANGETYPE = ZCHANGETYPE + 100", at: url)
      context.processPendingChanges()
      #expect(persistError { try context.throwDeferredError() }?.code == .storeDamaged)
      context.processPendingChanges()
      try context.throwDeferredError()
      #expect(team["name"] as? String == "Anna")
      try elsewhere.named("Team", "Anna")["name"] = "Hanna"
      try elsewhere.save()
      context.processPendingChanges()
      try context.throwDeferredError()
      #expect(team["name"] as? String == "Hanna")
      for store in other.persistentStores { try other.remove(store) }
    }
  }

  @Test("A context with continuous merging notices another process") @MainActor
  func continuous() async throws {
    try await withTemporaryFolder { folder in
      let url = folder.appendingPathComponent("Store.sqlite")
      let coordinator = PersistentStoreCoordinator(model: try ManagedObjectModel(SampleModels.people))
      try coordinator.addStore(at: url)
      let context = ManagedObjectContext(coordinator)
      let ann = try context.make("Person", ["name": "Ann"])
      try context.save()
      let merging = Task { await context.mergeChangesContinuously(checkingEvery: .milliseconds(20)) }
      while !context.automaticallyMergesChangesFromParent { await Task.yield() }
      try BuiltProgram.run("SQLRunner", url.path, "UPDATE ZPERSON SET ZNAME = 'Anna', Z_OPT = Z_OPT + 1")
      while ann["name"] as? String != "Anna" { await Task.yield() }
      merging.cancel()
      await merging.value
    }
  }

  @Test("Checking for foreign changes while the store is being written doesn't wait", .aboutFiles("locks of files"))
  func busyWriter() throws {
    try withStore { url, coordinator, _ in
      let store = try #require(coordinator.openStores.first as? SQLiteStore)
      try store.pool.write { _ in try #expect(store.foreignChangeCount() == nil) }
      try #expect(store.foreignChangeCount() != nil)
    }
  }

  @Test(
    "A context's own saves aren't foreign: nothing is compared after them",
    .aboutFiles("the counter of changes in SQLite's file"))
  func ownSaves() throws {
    try withStore { _, coordinator, context in
      context.automaticallyMergesChangesFromParent = true
      let store = try #require(coordinator.openStores.first)
      let before = try store.foreignChangeCount()
      try context.make("Person")
      try context.save()
      #expect(try store.foreignChangeCount() == before)
    }
  }
}
