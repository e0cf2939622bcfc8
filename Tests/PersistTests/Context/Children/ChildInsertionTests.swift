import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Identifiers and stores of objects inserted in a child")
struct ChildInsertionTests {
  final class Woken: ManagedObject {
    var wakings = 0
    override func awakeFromInsert() {
      wakings += 1
      self["nickname"] = "woken"
    }
  }

  // CHD-05
  @Test("A permanent identifier obtained in a child before the save also identifies the parent's object and its row")
  func permanentBeforeSaving() throws {
    try withStack(SampleModels.pets) { stack in
      let root = stack.context(classes: ["Person": Woken.self])
      let middle = ManagedObjectContext(parent: root)
      let child = ManagedObjectContext(parent: middle)
      let ann = try child.make("Person", ["name": "Ann"])
      let rex = try child.make("Pet", ["name": "Rex", "owner": ann])
      try child.obtainPermanentIDs(for: [ann])
      let id = ann.objectID
      #expect(!id.isTemporaryID && rex.objectID.isTemporaryID && rex.one("owner") === ann)
      for (saved, context) in [(child, middle), (middle, root)] {
        try saved.save()
        let object = try #require(context.registeredObject(for: id) as? Woken)
        #expect(object.isInserted && object.wakings == 1 && object["nickname"] as? String == "woken")
        #expect(try object["name"] as? String == "Ann" && object.names("pets") == ["Rex"])
      }
      try root.save()
      #expect(ann.objectID == id && !rex.objectID.isTemporaryID)
      ann["name"] = "Anna"
      for context in [child, middle, root] { try context.save() }
      let reader = try stack.reopened().context()
      #expect(try reader.existingObject(with: id)["name"] as? String == "Anna")
      #expect(try reader.existingObject(with: id).names("pets") == ["Rex"])
    }
  }

  @Test("A child's objects adopt the permanent identifiers that the parent's new objects obtain before they are saved")
  func permanentInParent() throws {
    try withStack(SampleModels.pets) { stack in
      let parent = stack.context()
      let ann = try parent.make("Person", ["name": "Ann"])
      let rex = try parent.make("Pet", ["name": "Rex", "owner": ann])
      let child = ManagedObjectContext(parent: parent)
      let (hers, dog) = (child.object(with: ann.objectID), child.object(with: rex.objectID))
      #expect(dog.one("owner") === hers)
      let kit = try child.make("Pet", ["name": "Kit", "owner": hers])
      try parent.obtainPermanentIDs(for: [ann])
      #expect(hers.objectID == ann.objectID && !hers.objectID.isTemporaryID)
      #expect(dog.one("owner") === hers && kit.one("owner") === hers && hers["name"] as? String == "Ann")
      try child.save()
      try parent.save()
      let reader = try stack.reopened().context()
      #expect(try reader.named("Person", "Ann").names("pets") == ["Kit", "Rex"])
    }
  }

  @Test("A new object assigned to a store in a child is saved to that store, also with an identifier obtained before")
  func assigned() throws {
    let model = try ManagedObjectModel(SampleModels.people)
    try withTemporaryFolder { folder in
      let coordinator = PersistentStoreCoordinator(model: model)
      let first = try coordinator.addStore(at: folder.appendingPathComponent("1.sqlite"))
      let second = try coordinator.addStore(at: folder.appendingPathComponent("2.sqlite"))
      let parent = ManagedObjectContext(coordinator)
      let child = ManagedObjectContext(parent: parent)
      let people = try ["Ann", "Bob", "Cid", "Dan"].map { try child.make("Person", ["name": $0]) }
      for person in people[1...2] { try child.assign(person, to: second) }
      try child.obtainPermanentIDs(for: people[2...])
      #expect(people[2].objectID.storeIdentifier == second.identifier)
      #expect(people[3].objectID.storeIdentifier == first.identifier)
      #expect(persistError { try child.assign(people[3], to: second) }?.code == .invalidRequest)
      try child.save()
      // Another child finds the parent's new object among the rows of its store.
      let other = ManagedObjectContext(parent: parent)
      #expect(other.object(with: people[1].objectID)["name"] as? String == "Bob")
      try parent.save()
      #expect(people.map { $0.objectID.storeIdentifier == second.identifier } == [false, true, true, false])
      try coordinator.remove(first)
      #expect(try ManagedObjectContext(coordinator).names("Person") == ["Bob", "Cid"])
    }
  }

  @Test(
    "A new object that the parent has discarded is inserted there again by a child whose changes win",
    arguments: [true, false])
  func discardedByParent(isRolledBack: Bool) throws {
    try withStack(PlainSchema.model) { stack in
      let parent = stack.context()
      let tag = try parent.make("Tag", ["name": "tag"])
      try parent.save()
      let node = try parent.make("Node", ["name": "node"])
      let child = ManagedObjectContext(parent: parent)
      child.mergePolicy = .mergeByPropertyObjectTrump
      let hers = child.object(with: node.objectID)
      hers["note"] = "hers"
      try hers.many("tags").insert(child.object(with: tag.objectID))
      if isRolledBack { parent.rollback() } else { parent.delete(node) }
      try child.save()
      let again = try parent.named("Node", "node")
      #expect(again.objectID.isTemporaryID && again["note"] as? String == "hers")
      #expect(try Array(tag.many("nodes")) == [again])
      try parent.save()
      #expect(hers.objectID == again.objectID && !hers.objectID.isTemporaryID)
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Tag", "tag").names("nodes") == ["node"])
    }
  }

  final class Unwanted: ManagedObject {
    override func awakeFromInsert() {
      if managedObjectContext?.parent == nil { managedObjectContext?.delete(self) }
    }
  }

  @Test("An object that the parent's hook deletes keeps its permanent identifier in the child")
  func deletedByHook() throws {
    try withStack(SampleModels.pets) { stack in
      let parent = stack.context(classes: ["Person": Unwanted.self])
      let child = ManagedObjectContext(parent: parent)
      let ann = try child.make("Person", ["name": "Ann"])
      try child.obtainPermanentIDs(for: [ann])
      let id = ann.objectID
      try child.save()
      #expect(ann.objectID == id && child.registeredObject(for: id) === ann)
      #expect(!parent.hasChanges)
    }
  }

  @Test(
    "A row that a child inserts again isn't deleted with its former partner",
    arguments: [MergePolicy.overwrite, .mergeByPropertyObjectTrump])
  func returnsWithoutPartner(policy: MergePolicy) throws {
    try withStack(RandomGraph.model) { stack in
      let (parent, other) = (stack.context(), stack.context())
      let child = ManagedObjectContext(parent: parent)
      for context in [parent, child] { context.mergePolicy = policy }
      let node = try parent.make("Node", ["name": "node"])
      try parent.make("Passport", ["name": "passport", "holder": node])
      try parent.save()
      let passport = try child.named("Passport", "passport")
      let id = passport.objectID
      passport["holder"] = nil
      child.delete(child.object(with: node.objectID))
      try other.delete(other.named("Passport", "passport"))
      try other.save()
      try child.save()
      #expect(passport.objectID == id)
      try parent.save()
      let reader = try stack.reopened().context()
      #expect(try reader.names("Passport") == ["passport"])
      #expect(try reader.names("Node") == [])
    }
  }
}
