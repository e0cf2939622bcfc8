import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Undo and redo")
struct UndoTests {
  private func undoable(_ stack: TestStack, classes: [String: ManagedObject.Type] = [:]) -> ManagedObjectContext {
    let context = stack.context(classes: classes)
    context.undoManager = .init()
    return context
  }

  @Test("UND-01: insertions made together are undone and redone together; a rollback leaves nothing to redo")
  func insertions() throws {
    try withStack(SampleModels.pets) { stack in
      let context = undoable(stack)
      var all: Set<ManagedObject> = []
      for index in 0..<20 {
        let owner = try context.make("Person", ["name": "\(index)"])
        all.formUnion([owner, try context.make("Pet", ["name": "pet \(index)", "owner": owner])])
        _ = try context.count(for: FetchRequest("Pet"))
      }
      context.undo()
      #expect(context.insertedObjects.isEmpty && !context.hasChanges)
      context.redo()
      #expect(context.insertedObjects == all)
      try #expect(context.named("Pet", "pet 7").one("owner")?["name"] as? String == "7")
      context.rollback()
      #expect(context.insertedObjects.isEmpty)
      context.redo()
      #expect(context.insertedObjects.isEmpty)
      context.undo()
      #expect(!context.hasChanges)
    }
  }

  @Test("UND-02: a new context has no undo manager; without one, undo does nothing, and rolling back still works")
  func withoutManager() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      #expect(context.undoManager == nil)
      try context.make("Person")
      context.undo()
      #expect(context.insertedObjects.count == 1)
      context.rollback()
      #expect(!context.hasChanges)
      context.redo()
      #expect(!context.hasChanges)
    }
  }

  @Test("Undo reverts event by event, and redo restores; a new change leaves nothing to redo")
  func events() throws {
    try withStack(SampleModels.people) { stack in
      let context = undoable(stack)
      let ann = try context.make("Person", ["name": "a"])
      try context.save()
      for name in ["b", "c", "d"] {
        ann["name"] = name
        context.processPendingChanges()
      }
      var seen: [String?] = []
      while context.undoManager?.canUndo == true, ann.managedObjectContext != nil, !ann.isDeleted {
        seen.append(ann["name"] as? String)
        context.undo()
      }
      #expect(seen == ["d", "c", "b", "a"] && ann.isDeleted)
      context.redo()
      context.redo()
      #expect(!ann.isDeleted && ann["name"] as? String == "b")
      ann["name"] = "z"
      #expect(context.undoManager?.canRedo == false)
      context.redo()
      #expect(ann["name"] as? String == "z")
      context.undo()
      #expect(ann["name"] as? String == "b")
      context.undo()
      #expect(ann["name"] as? String == "a" && !ann.hasChanges && !context.hasChanges)
    }
  }

  @Test("A deletion with its cascade and the relationships that it cleared is undone, before and after saving")
  func deletions() throws {
    for savesBetween in [false, true] {
      try withStack(SampleModels.pets) { stack in
        let context = undoable(stack)
        let ann = try context.make("Person", ["name": "Ann", "nickname": "A"])
        let pets = try ["Rex", "Max"].map { try context.make("Pet", ["name": $0, "owner": ann]) }
        try context.save()
        context.delete(ann)
        context.processPendingChanges()
        if savesBetween { try context.save() }
        context.undo()
        #expect(!ann.isDeleted && ann["nickname"] as? String == "A" && pets.allSatisfy { $0.one("owner") === ann })
        try #expect(ann.names("pets") == ["Max", "Rex"])
        #expect(context.insertedObjects.count == (savesBetween ? 3 : 0) && context.deletedObjects.isEmpty)
        #expect(context.hasChanges == savesBetween)
        try context.save()
        let fresh = try stack.reopened().context()
        try #expect(fresh.named("Person", "Ann").names("pets") == ["Max", "Rex"])
      }
    }
  }

  @Test("Undoing a saved insertion deletes the row with the next save; redoing it inserts the object again")
  func savedInsertion() throws {
    try withStack(SampleModels.pets) { stack in
      let context = undoable(stack)
      let ann = try context.make("Person", ["name": "Ann"])
      try context.save()
      let pet = try context.make("Pet", ["name": "Rex", "owner": ann])
      try context.save()
      context.undo()
      #expect(pet.isDeleted && context.deletedObjects == [pet])
      try #expect(ann.many("pets").isEmpty)
      try context.save()
      try #expect(context.count(for: FetchRequest("Pet")) == 0)
      context.redo()
      #expect(pet.isInserted && pet.one("owner") === ann)
      try context.save()
      let fresh = stack.context()
      try #expect(fresh.named("Pet", "Rex").one("owner")?["name"] as? String == "Ann")
    }
  }

  @Test("An order, a move and a replacement of members are undone to the former order")
  func orders() throws {
    try withStack(SampleModels.shapes) { stack in
      let context = undoable(stack)
      let parent = try context.make("Node", ["name": "parent"])
      let children = try ["a", "b", "c", "d"].map { try context.make("Node", ["name": $0, "parent": parent]) }
      try context.save()
      let set = try parent.many("children")
      set.insert(children[3], at: 0)
      context.processPendingChanges()
      set.remove(children[1])
      context.processPendingChanges()
      set.replace(with: [children[2], children[1]])
      context.processPendingChanges()
      try #expect(parent.names("children") == ["c", "b"])
      context.undo()
      try #expect(parent.names("children") == ["d", "a", "c"])
      context.undo()
      try #expect(parent.names("children") == ["d", "a", "b", "c"])
      context.undo()
      try #expect(parent.names("children") == ["a", "b", "c", "d"])
      #expect(!context.hasChanges)
      context.redo()
      context.redo()
      try context.save()
      let fresh = try stack.reopened().context()
      try #expect(fresh.named("Node", "parent").names("children") == ["d", "a", "c"])
    }
  }

  @Test("Explicit groups combine several events; inner groups can be undone separately")
  func groups() throws {
    try withStack(SampleModels.people) { stack in
      let context = undoable(stack)
      let manager = try #require(context.undoManager)
      let ann = try context.make("Person", ["name": "0"])
      try context.save()
      manager.removeAllActions()
      manager.beginUndoGrouping()
      ann["name"] = "1"
      context.processPendingChanges()
      ann["salary"] = 1
      manager.beginUndoGrouping()
      ann["name"] = "2"
      manager.endUndoGrouping()
      manager.setActionName("Raise")
      #expect(manager.groupingLevel == 1)
      manager.undoNestedGroup()
      #expect(ann["name"] as? String == "1" && ann["salary"] as? Int == 1)
      ann["name"] = "3"
      manager.endUndoGrouping()
      #expect(manager.undoActionName == "Raise")
      context.undo()
      #expect(ann["name"] as? String == "0" && ann["salary"] == nil)
      #expect(!manager.canUndo && manager.redoActionName == "Raise")
      context.redo()
      #expect(ann["name"] as? String == "3" && ann["salary"] as? Int == 1)
    }
  }

  @Test("Only as many groups as the limit can be undone")
  func levels() throws {
    try withStack(SampleModels.people) { stack in
      let context = undoable(stack)
      context.undoManager?.levelsOfUndo = 2
      let ann = try context.make("Person", ["salary": 0])
      for salary in 1...5 {
        context.processPendingChanges()
        ann["salary"] = salary
      }
      for _ in 0..<5 { context.undo() }
      #expect(ann["salary"] as? Int == 3 && ann.isInserted)
    }
  }

  @Test("Changes made while registration is disabled, by a refresh, or before there was a manager aren't undone")
  func notRecorded() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      context.undoManager = .init()
      context.undo()
      #expect(ann.isInserted)
      context.undoManager?.disableUndoRegistration()
      ann["name"] = "Anna"
      context.undoManager?.enableUndoRegistration()
      #expect(context.undoManager?.canUndo == false)
      try context.save()
      ann["name"] = "Annie"
      context.refresh(ann, mergeChanges: false)
      #expect(ann["name"] as? String == "Anna")
      context.reset()
      #expect(context.undoManager?.canUndo == false)
    }
  }

  @Test("One manager serves two contexts: the last change in either is undone first")
  func shared() throws {
    try withStack(SampleModels.people) { stack in
      let (first, second) = (stack.context(), stack.context())
      let manager = ManagedObjectContext.UndoManager()
      (first.undoManager, second.undoManager) = (manager, manager)
      try first.make("Person")
      first.processPendingChanges()
      try second.make("Person")
      second.processPendingChanges()
      manager.undo()
      #expect(first.hasChanges && !second.hasChanges)
      second.rollback()
      #expect(manager.canUndo)
      first.rollback()
      #expect(!manager.canUndo)
    }
  }

  @Test("Undo notifies observers like any change, and objects of the reason")
  func telling() throws {
    final class Person: ManagedObject {
      var events: [SnapshotEvents] = []
      override func awakeFromSnapshotEvents(_ events: SnapshotEvents) { self.events.append(events) }
    }
    try withStack(SampleModels.people) { stack in
      let context = undoable(stack, classes: ["Person": Person.self])
      let ann = Person(context: context)
      try context.save()
      ann["name"] = "Ann"
      context.processPendingChanges()
      context.delete(ann)
      let events = EventRecorder(context)
      context.processPendingChanges()
      context.undo()
      context.undo()
      #expect(events.changes.map(\.counts) == [[0, 0, 1, 0, 0, 0], [1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0]])
      #expect(ann.events == [.undoDeletion, .undoUpdate])
    }
  }
}
