import Foundation
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Child contexts")
struct ChildContextTests {
  // CHD-01
  @Test("Objects inserted in a child are in the parent once the child is saved, and in the store once the parent is")
  func insertion() throws {
    try withStack(SampleModels.pets) { stack in
      let parent = stack.context()
      let child = ManagedObjectContext(parent: parent)
      #expect(child.parent === parent && parent.parent == nil && child.persistentStoreCoordinator === parent.persistentStoreCoordinator)
      let ann = try child.make("Person", ["name": "Ann"])
      try child.make("Pet", ["name": "Rex", "owner": ann])
      #expect(try parent.count(for: FetchRequest("Person")) == 0 && parent.fetch(FetchRequest("Pet")).isEmpty)

      try child.save()
      #expect(!child.hasChanges && ann.objectID.isTemporaryID)
      let parents = try #require(parent.registeredObject(for: ann.objectID))
      #expect(parent.hasChanges && parents.isInserted && parents !== ann)
      #expect(parents["name"] as? String == "Ann" && parents["nickname"] as? String == "buddy")
      #expect(try parents.names("pets") == ["Rex"])
      #expect(stack.store.commits.isEmpty)

      try parent.save()
      #expect(!parent.hasChanges && !child.hasChanges)
      #expect(!ann.objectID.isTemporaryID && ann.objectID == parents.objectID)
      #expect(try ann.names("pets") == ["Rex"] && ann.many("pets").first?.one("owner") === ann)
      let reader = try stack.reopened().context()
      #expect(try reader.existingObject(with: ann.objectID).names("pets") == ["Rex"])
    }
  }

  // CHD-02
  @Test("Each save of a child is one event of the parent, and the parent's save posts all of them")
  func events() throws {
    try withStack(SampleModels.people) { stack in
      let parent = stack.context()
      let (ann, bob) = (try parent.make("Person", ["name": "Ann"]), try parent.make("Person", ["name": "Bob"]))
      try parent.save()
      let recorder = EventRecorder(parent)
      let child = ManagedObjectContext(parent: parent)
      try child.make("Person", ["name": "Cid"])
      try child.make("Person", ["name": "Dan"])
      try child.save()
      child.object(with: ann.objectID)["name"] = "Anna"
      try child.save()
      child.delete(child.object(with: bob.objectID))
      try child.save()
      let second = ManagedObjectContext(parent: parent)
      try second.make("Person", ["name": "Eve"])
      try second.save()
      #expect(recorder.changes.map { Array($0.counts.prefix(3)) } == [[2, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]])
      try parent.save()
      #expect(recorder.saves.count == 1)
      let saved = try #require(recorder.saves.first)
      #expect(saved.inserted.count == 3 && saved.updated.count == 1 && saved.deleted.count == 1)
      #expect(try stack.reopened().context().names("Person") == ["Anna", "Cid", "Dan", "Eve"])
    }
  }

  // CHD-04
  @Test("The identifiers posted by a child's save are temporary")
  func temporaryIdentifiers() throws {
    try withStack(SampleModels.people) { stack in
      let child = ManagedObjectContext(parent: stack.context())
      let recorder = EventRecorder(child)
      let ann = try child.make("Person", ["name": "Ann"])
      try child.save()
      let saved = try #require(recorder.saves.first)
      #expect(saved.savedChanges.insertedObjectIDs == [ann.objectID] && ann.objectID.isTemporaryID)
    }
  }

  // CHD-07
  @Test("A transient change saved by a child marks the parent's object as changed, without anything to write")
  func transientChange() throws {
    try withStack(SampleModels.pets) { stack in
      let parent = stack.context()
      let ann = try parent.make("Person", ["name": "Ann"])
      try parent.save()
      let child = ManagedObjectContext(parent: parent)
      child.object(with: ann.objectID)["displayName"] = "Ann \"buddy\""
      try child.save()
      #expect(parent.hasChanges && parent.updatedObjects == [ann] && !ann.hasPersistentChangedValues)
      #expect(ann["displayName"] as? String == "Ann \"buddy\"")
      let other = ManagedObjectContext(parent: parent)
      #expect(other.object(with: ann.objectID)["displayName"] as? String == "Ann \"buddy\"")
      let commits = stack.store.commits.count
      try parent.save()
      #expect(stack.store.commits.count == commits && !parent.hasChanges)
    }
  }

  // CHD-08
  @Test("A saved object deleted in a child is deleted only there until the child is saved")
  func deletion() throws {
    try withStack(SampleModels.pets) { stack in
      let parent = stack.context()
      let ann = try parent.make("Person", ["name": "Ann"])
      try parent.make("Pet", ["name": "Rex", "owner": ann])
      try parent.save()
      let child = ManagedObjectContext(parent: parent)
      let hers = child.object(with: ann.objectID)
      #expect(!hers.isDeleted)
      child.delete(hers)
      child.processPendingChanges()
      #expect(hers.isDeleted && child.deletedObjects.contains(hers) && child.deletedObjects.count == 2)
      #expect(!ann.isDeleted && !parent.hasChanges)
      try child.save()
      #expect(ann.isDeleted && parent.deletedObjects.count == 2 && hers.managedObjectContext == nil)
      try parent.save()
      let reader = try stack.reopened().context()
      #expect(try reader.count(for: FetchRequest("Person")) == 0 && reader.count(for: FetchRequest("Pet")) == 0)
    }
  }

  @Test("A child reads its parent's unsaved state: new objects, changes, relationships and deletions")
  func parentsUnsavedChanges() throws {
    try withStack(SampleModels.pets) { stack in
      let parent = stack.context()
      let (ann, bob) = (try parent.make("Person", ["name": "Ann"]), try parent.make("Person", ["name": "Bob"]))
      try parent.save()
      ann["name"] = "Anna"
      parent.delete(bob)
      let cid = try parent.make("Person", ["name": "Cid"])
      let rex = try parent.make("Pet", ["name": "Rex", "owner": cid])
      try parent.make("Pet", ["name": "Tom", "owner": ann])

      let child = ManagedObjectContext(parent: parent)
      #expect(try child.names("Person") == ["Anna", "Cid"])
      #expect(try child.count(for: FetchRequest("Person")) == 2)
      #expect(try child.fetchObjectIDs(FetchRequest("Pet")).contains(rex.objectID))
      #expect(try child.fetch(FetchRequest("Person", where: "name == %@", "Anna")).map(\.objectID) == [ann.objectID])
      #expect(try child.count(for: FetchRequest("Person", where: "name == %@", "Ann")) == 0)
      let pet = child.object(with: rex.objectID)
      #expect(pet.isFault && !pet.isInserted && pet.objectID == rex.objectID)
      #expect(pet.one("owner")?["name"] as? String == "Cid" && pet.one("owner")?.objectID == cid.objectID)
      #expect(try child.object(with: ann.objectID).names("pets") == ["Tom"])
      #expect(try child.object(with: cid.objectID).names("pets") == ["Rex"])
      #expect(persistError { _ = try child.existingObject(with: bob.objectID) }?.code == .objectNotFound)
      #expect(!child.hasChanges)
    }
  }

  @Test("A child relates, changes and deletes objects that the parent hasn't saved")
  func changesOfUnsavedObjects() throws {
    try withStack(SampleModels.pets) { stack in
      let parent = stack.context()
      let ann = try parent.make("Person", ["name": "Ann"])
      let (rex, tom) = (try parent.make("Pet", ["name": "Rex"]), try parent.make("Pet", ["name": "Tom", "owner": ann]))
      let child = ManagedObjectContext(parent: parent)
      child.object(with: rex.objectID)["owner"] = child.object(with: ann.objectID)
      child.object(with: ann.objectID)["name"] = "Anna"
      child.delete(child.object(with: tom.objectID))
      try child.make("Pet", ["name": "Kit", "owner": child.object(with: ann.objectID)])
      #expect(rex.one("owner") == nil && ann["name"] as? String == "Ann" && !tom.isDeleted)
      try child.save()
      #expect(rex.one("owner") === ann && ann["name"] as? String == "Anna" && tom.isDeleted)
      #expect(try ann.names("pets") == ["Kit", "Rex"] && parent.insertedObjects.count == 3)
      try parent.save()
      let reader = try stack.reopened().context()
      #expect(try reader.named("Person", "Anna").names("pets") == ["Kit", "Rex"])
    }
  }

  @Test("Rolling back or releasing a child leaves the parent unchanged")
  func discarded() throws {
    try withStack(SampleModels.pets) { stack in
      let parent = stack.context()
      let ann = try parent.make("Person", ["name": "Ann"])
      try parent.save()
      do {
        let child = ManagedObjectContext(parent: parent)
        child.object(with: ann.objectID)["name"] = "Anna"
        child.rollback()
        #expect(child.object(with: ann.objectID)["name"] as? String == "Ann")
        child.delete(child.object(with: ann.objectID))
        try child.make("Pet", ["name": "Rex"])
        #expect(parent.children.count == 1)
      }
      #expect(parent.children.isEmpty && !parent.hasChanges && parent.registeredObjects == [ann])
    }
  }

  @Test("Through three contexts, changes move up save by save, and permanent identifiers return with the last one")
  func severalLevels() throws {
    try withStack(SampleModels.pets) { stack in
      let root = stack.context()
      let old = try root.make("Person", ["name": "Old"])
      try root.save()
      let middle = ManagedObjectContext(parent: root)
      let leaf = ManagedObjectContext(parent: middle)
      let ann = try leaf.make("Person", ["name": "Ann"])
      let rex = try leaf.make("Pet", ["name": "Rex", "owner": ann])
      leaf.object(with: old.objectID)["name"] = "Older"
      try leaf.save()
      #expect(middle.insertedObjects.count == 2 && !root.hasChanges)
      #expect(middle.object(with: ann.objectID)["name"] as? String == "Ann")
      try middle.save()
      #expect(root.insertedObjects.count == 2 && old["name"] as? String == "Older" && !middle.hasChanges)
      leaf.object(with: ann.objectID)["nickname"] = "A"
      rex["name"] = "Max"
      try leaf.save()
      try middle.save()
      try root.save()
      #expect(!ann.objectID.isTemporaryID && !rex.objectID.isTemporaryID)
      try #expect(rex.one("owner") === ann && ann.many("pets").objectIDs == [rex.objectID])
      // Nobody else has written these rows: each level may continue to change them.
      for (number, context) in [leaf, middle, root].enumerated() {
        context.object(with: ann.objectID)["name"] = "Ann \(number)"
        context.object(with: old.objectID)["nickname"] = "\(number)"
        var next: ManagedObjectContext? = context
        while let current = next {
          try current.save()
          next = current.parent
        }
      }
      let reader = try stack.reopened().context()
      let person = try reader.existingObject(with: ann.objectID)
      #expect(person["name"] as? String == "Ann 2" && person["nickname"] as? String == "A")
      #expect(try person.names("pets") == ["Max"])
    }
  }

  @Test("Properties changed by a child replace the parent's; all others keep their values there")
  func mergeUpwards() throws {
    try withStack(SampleModels.people) { stack in
      let parent = stack.context()
      let ann = try parent.make("Person", ["name": "Ann", "salary": 1])
      try parent.save()
      let child = ManagedObjectContext(parent: parent)
      let hers = child.object(with: ann.objectID)
      hers["name"] = "Anna"
      ann["name"] = "Annie"
      ann["salary"] = 2
      try child.save()
      #expect(ann["name"] as? String == "Anna" && ann["salary"] as? Int == 2)
      try parent.save()
      #expect(hers["salary"] as? Int == 1)
      child.refresh(hers, mergeChanges: true)
      #expect(hers["salary"] as? Int == 2)
    }
  }

  @Test("A child's save of an object that the parent has deleted is a conflict, and changes nothing")
  func deletedInParent() throws {
    try withStack(SampleModels.people) { stack in
      let parent = stack.context()
      let ann = try parent.make("Person", ["name": "Ann"])
      try parent.save()
      let child = ManagedObjectContext(parent: parent)
      let hers = child.object(with: ann.objectID)
      hers["name"] = "Anna"
      try child.make("Person", ["name": "Bob"])
      parent.delete(ann)
      #expect(persistError { try child.save() }?.code == .mergeConflict)
      #expect(child.hasChanges && parent.insertedObjects.isEmpty && parent.deletedObjects == [ann])
      child.delete(hers)
      try child.save()
      try parent.save()
      #expect(try stack.reopened().context().names("Person") == ["Bob"])
    }
  }

  @Test("A row changed by others after a child has read it is a conflict, not a lost update")
  func changedByOthers() throws {
    try withStack(SampleModels.people) { stack in
      let (parent, other) = (stack.context(), stack.context())
      let id = try other.make("Person", ["name": "Ann", "salary": 1])
      try other.save()
      let child = ManagedObjectContext(parent: parent)
      let hers = child.object(with: id.objectID)
      hers["name"] = "Anna"
      id["salary"] = 2
      try other.save()
      #expect(persistError { try child.save() }?.code == .mergeConflict)
      #expect(!parent.hasChanges)
      child.refresh(hers, mergeChanges: true)
      try child.save()
      try parent.save()
      let ann = try stack.reopened().context().named("Person", "Anna")
      #expect(ann["salary"] as? Int == 2)
    }
  }

  @Test("Hooks and validation run at each level")
  func hooksAndValidation() throws {
    try withStack(SampleModels.staff) { stack in
      let classes = ["Employee": HookedEmployee.self]
      let parent = stack.context(classes: classes)
      let child = ManagedObjectContext(parent: parent)
      let bad = HookedEmployee(context: child)
      bad["name"] = "A"
      #expect(persistError { try child.save() }?.code == .validationStringTooShort)
      #expect(child.hasChanges && !parent.hasChanges)
      bad["name"] = "Ann"
      bad.calls = []
      try child.save()
      #expect(bad.calls == ["willSave", "didSave"])
      let parents = try #require(parent.registeredObject(for: bad.objectID) as? HookedEmployee)
      #expect(parents.calls == ["insert"] && parents["name"] as? String == "Ann")
      parents["salary"] = -1
      #expect(persistError { try parent.save() }?.code == .validationNumberTooSmall)
      parents["salary"] = 1
      parents.calls = []
      try parent.save()
      #expect(parents.calls == ["willSave", "didSave"] && bad.calls == ["willSave", "didSave"])
    }
  }

  final class HookedEmployee: ManagedObject {
    var calls: [String] = []
    override func awakeFromInsert() { calls.append("insert") }
    override func willSave() { calls.append("willSave") }
    override func didSave() { calls.append("didSave") }
  }
}
