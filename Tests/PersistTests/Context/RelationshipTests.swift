import Foundation
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Relationships")
struct RelationshipTests {
  @Test("REL-01: setting the to-one side adds the member to the to-many side, before and after saving")
  func toOneSide() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      let rex = try context.make("Pet", ["name": "Rex", "owner": ann])
      #expect(try ann.names("pets") == ["Rex"])
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Person", "Ann").names("pets") == ["Rex"])
      #expect(try context.make("Pet")["owner"] == nil)
      rex["owner"] = nil
      #expect(try ann.many("pets").count == 0)
    }
  }

  @Test("REL-02: adding, removing and replacing members sets their to-one side")
  func toManySide() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      let bob = try context.make("Person", ["name": "Bob"])
      let pets = try ["a", "b", "c"].map { try context.make("Pet", ["name": $0]) }
      try ann.many("pets").insert(contentsOf: pets[0...1])
      #expect(pets[0].one("owner") === ann && pets[1].one("owner") === ann && pets[2].one("owner") == nil)
      try ann.many("pets").remove(pets[0])
      #expect(pets[0].one("owner") == nil)
      try context.save()
      try bob.many("pets").insert(pets[1])
      #expect(try ann.many("pets").isEmpty && bob.names("pets") == ["b"])
      ann["pets"] = [pets[0], pets[2]]
      bob["pets"] = Set([pets[2]])
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Person", "Ann").names("pets") == ["a"])
      #expect(try fresh.named("Person", "Bob").names("pets") == ["c"])
      #expect(try fresh.named("Pet", "b")["owner"] == nil)
    }
  }

  @Test("Relating an object to one with many others doesn't read them")
  func relatingIsCheap() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      for index in 0..<50 { try context.make("Pet", ["name": "\(index)", "owner": ann]) }
      try context.save()
      let fresh = stack.context()
      let again = try fresh.named("Person", "Ann")
      let before = stack.store.calls
      let rex = try fresh.make("Pet", ["name": "Rex"])
      try again.many("pets").insert(rex)
      #expect(try again.many("pets").contains(rex))
      try fresh.save()
      #expect(stack.store.calls - before == 1)
      #expect(try again.many("pets").count == 51)
      #expect(fresh.registeredObjects.count == 2)
    }
  }

  @Test("Unread members and unsaved changes are combined when the members are read")
  func mergedMembers() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      for name in ["a", "b"] { try context.make("Pet", ["name": name, "owner": ann]) }
      try context.save()
      let fresh = stack.context()
      try fresh.make("Pet", ["name": "c", "owner": fresh.named("Person", "Ann")])
      try fresh.named("Pet", "a")["owner"] = nil
      #expect(try fresh.named("Person", "Ann").names("pets") == ["b", "c"])
      fresh.rollback()
      #expect(try fresh.named("Person", "Ann").names("pets") == ["a", "b"])
    }
  }

  @Test("REL-04: many-to-many: both sides agree, and removing one link leaves the others")
  func manyToMany() throws {
    try withStack(SampleModels.shapes) { stack in
      let context = stack.context()
      let (red, blue) = try (context.make("Tag", ["label": "red"]), context.make("Tag", ["label": "blue"]))
      let pen = try context.make("Node", ["name": "pen", "tags": [red, blue]])
      let book = try context.make("Leaf", ["name": "book"])
      try red.many("nodes").insert(book)
      #expect(try red.names("nodes") == ["book", "pen"])
      try context.save()
      var fresh = try stack.reopened().context()
      #expect(try fresh.named("Node", "pen").names("tags", by: "label") == ["blue", "red"])
      #expect(try fresh.named("Tag", "red", by: "label").names("nodes") == ["book", "pen"])
      try fresh.named("Tag", "red", by: "label").many("nodes").remove(fresh.named("Node", "pen"))
      #expect(try fresh.named("Node", "pen").names("tags", by: "label") == ["blue"])
      try fresh.save()
      fresh = try stack.reopened().context()
      #expect(try fresh.named("Node", "pen").names("tags", by: "label") == ["blue"])
      #expect(try fresh.named("Tag", "red", by: "label").names("nodes") == ["book"])
      _ = pen
    }
  }

  @Test("A relationship that is its own inverse is posted once")
  func ownInverse() throws {
    try withStack(SampleModels.shapes) { stack in
      let context = stack.context()
      let nodes = try ["a", "b", "c"].map { try context.make("Node", ["name": $0]) }
      try nodes[0].many("friends").insert(contentsOf: nodes[1...2])
      try nodes[1].many("friends").insert(nodes[1])
      #expect(try nodes[1].names("friends") == ["a", "b"])
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Node", "a").names("friends") == ["b", "c"])
      #expect(try fresh.named("Node", "b").names("friends") == ["a", "b"])
      try fresh.named("Node", "c").many("friends").removeAll()
      try fresh.save()
      let last = try stack.reopened().context()
      #expect(try last.named("Node", "a").names("friends") == ["b"])
    }
  }

  @Test("One-to-one: a new partner separates both from their former ones")
  func oneToOne() throws {
    try withStack(SampleModels.shapes) { stack in
      let context = stack.context()
      let nodes = try ["a", "b", "c", "d"].map { try context.make("Node", ["name": $0]) }
      nodes[0]["spouse"] = nodes[1]
      nodes[2]["spouse"] = nodes[3]
      try context.save()
      nodes[0]["spouse"] = nodes[3]
      #expect(nodes[3].one("spouse") === nodes[0] && nodes[1]["spouse"] == nil && nodes[2]["spouse"] == nil)
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Node", "a").one("spouse")?["name"] as? String == "d")
      #expect(try fresh.named("Node", "d").one("spouse")?["name"] as? String == "a")
      #expect(try fresh.named("Node", "b")["spouse"] == nil && fresh.named("Node", "c")["spouse"] == nil)
    }
  }

  @Test("Ordered relationships keep their order, whichever side is set")
  func ordered() throws {
    try withStack(SampleModels.shapes) { stack in
      let context = stack.context()
      let root = try context.make("Node", ["name": "root"])
      let nodes = try ["a", "b", "c", "d"].map { try context.make("Node", ["name": $0]) }
      root["children"] = [nodes[2], nodes[0]]
      nodes[1]["parent"] = root
      try root.many("children").insert(nodes[3], at: 1)
      #expect(try root.names("children") == ["c", "d", "a", "b"])
      try context.save()
      var fresh = try stack.reopened().context()
      let children = try fresh.named("Node", "root").many("children")
      #expect(try fresh.named("Node", "root").names("children") == ["c", "d", "a", "b"])
      children.insert(children[3], at: 0)
      #expect(try fresh.named("Node", "root").names("children") == ["b", "c", "d", "a"])
      children.remove(children[1])
      try fresh.save()
      fresh = try stack.reopened().context()
      #expect(try fresh.named("Node", "root").names("children") == ["b", "d", "a"])
    }
  }

  @Test("An ordered many-to-many keeps its order on the ordered side")
  func orderedManyToMany() throws {
    try withStack(SampleModels.shapes) { stack in
      let context = stack.context()
      let tags = try ["x", "y", "z"].map { try context.make("Tag", ["label": $0]) }
      try context.make("Node", ["name": "a", "ranked": [tags[2], tags[0]]])
      let second = try context.make("Node", ["name": "b", "ranked": [tags[0], tags[1], tags[2]]])
      try context.save()
      second["ranked"] = [tags[1], tags[2]]
      try tags[0].many("rankers").insert(second)
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Node", "a").names("ranked", by: "label") == ["z", "x"])
      #expect(try fresh.named("Node", "b").names("ranked", by: "label") == ["y", "z", "x"])
    }
  }

  @Test("A to-one into a hierarchy returns an object of the destination's own entity")
  func hierarchy() throws {
    try withStack(SampleModels.shapes) { stack in
      let context = stack.context()
      let leaf = try context.make("Leaf", ["name": "leaf", "colour": "green"])
      try context.make("Passport", ["number": "1", "holder": leaf])
      try context.save()
      let fresh = try stack.reopened().context()
      let holder = try fresh.named("Passport", "1", by: "number").one("holder")
      #expect(holder?.entity.name == "Leaf" && holder?["colour"] as? String == "green")
    }
  }

  @Test("Refreshing without merging reverts changes on both sides")
  func refreshed() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let (ann, bob) = try (context.make("Person", ["name": "Ann"]), context.make("Person", ["name": "Bob"]))
      let rex = try context.make("Pet", ["name": "Rex", "owner": ann])
      try context.save()
      rex["owner"] = bob
      context.refresh(rex, mergeChanges: false)
      #expect(rex.isFault && !rex.hasChanges)
      #expect(try bob.many("pets").isEmpty && ann.names("pets") == ["Rex"] && rex.one("owner") === ann)
      rex["owner"] = bob
      context.refresh(bob, mergeChanges: true)
      #expect(try bob.names("pets") == ["Rex"])
      context.refresh(bob, mergeChanges: false)
      #expect(try bob.many("pets").isEmpty && rex["owner"] == nil)
    }
  }

  @Test("A relationship to a missing row can be set to another object and saved")
  func dangling() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      for name in ["a", "b"] { try context.make("Pet", ["name": name, "owner": ann]) }
      try context.save()
      // Only the row is deleted, as in a damaged store.
      var writes = RowWrites()
      writes.deletes = [.init(id: ann.objectID, entity: ann.entity, version: 1)]
      _ = try stack.store.commit(writes)
      let fresh = stack.context()
      let (a, b) = try (fresh.named("Pet", "a"), fresh.named("Pet", "b"))
      #expect(a.one("owner")?["name"] == nil)
      a["owner"] = try fresh.make("Person", ["name": "Bea"])
      b["owner"] = nil
      try fresh.save()
      let last = try stack.reopened().context()
      #expect(try last.named("Person", "Bea").names("pets") == ["a"] && last.named("Pet", "b")["owner"] == nil)
      // But a new member of a deleted row is a conflict.
      try last.make("Pet", ["name": "c"])["owner"] = last.object(with: ann.objectID)
      #expect(persistError { try last.save() }?.code == .mergeConflict)
    }
  }

  @Test("Members are read in batches, and each is only a fault until it is accessed")
  func groups() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      for index in 0..<150 { try context.make("Pet", ["name": "\(index)", "owner": ann]) }
      try context.save()
      let fresh = stack.context()
      let pets = try fresh.named("Person", "Ann").many("pets")
      let before = stack.store.calls
      let areFaults = pets.allSatisfy(\.isFault)
      #expect(areFaults)
      #expect(pets.compactMap { $0["name"] }.count == 150)
      // The members once, and their rows in two batches for each of the two iterations.
      #expect(stack.store.calls - before <= 5)
    }
  }

  @Test("An object of another context or entity is refused by name access, with an error")
  func foreign() throws {
    try withStack(SampleModels.pets) { stack in
      let (here, there) = (stack.context(), stack.context())
      let pet = try here.make("Pet")
      let stranger = try there.make("Person")
      #expect(persistError { try pet.setValue(stranger, forKey: "owner") }?.code == .foreignObject)
      let other = try here.make("Pet")
      #expect(persistError { try pet.setValue(other, forKey: "owner") }?.code == .typeMismatch)
      #expect(persistError { try pet.setValue("Ann", forKey: "owner") }?.code == .typeMismatch)
    }
  }
}
