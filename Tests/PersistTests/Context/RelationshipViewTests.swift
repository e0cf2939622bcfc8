import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// To-many relationships as live collections.
@Suite("Relationships as collections")
struct RelationshipViewTests {
  @Test("REL-05: assigning a set to a relationship with other members leaves exactly that set")
  func assignment() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      let pets = try (0..<110).map { try context.make("Pet", ["name": "\($0)"]) }
      ann["pets"] = Set(pets[0..<3])
      try context.save()
      ann["pets"] = Set(pets[10...])
      try context.save()
      context.refreshAllObjects()
      try #expect(Set(ann.many("pets")) == Set(pets[10...]))
      #expect(pets[0].one("owner") == nil)
    }
  }

  @Test("REL-07: a relationship without members reads as an empty collection, not as nil")
  func empty() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person")
      #expect((ann["pets"] as? RelationshipSet<ManagedObject>)?.isEmpty == true)
      try context.save()
      context.refreshAllObjects()
      #expect((ann["pets"] as? RelationshipSet<ManagedObject>)?.isEmpty == true)
    }
  }

  @Test("REL-08: the maximum count alone decides whether a relationship is to-many")
  func counts() {
    func isToMany(_ minimum: Int, _ maximum: Int) -> Bool {
      var relationship = RelationshipDescription("r", to: "A", inverse: nil)
      (relationship.minimumCount, relationship.maximumCount) = (minimum, maximum)
      return relationship.isToMany
    }
    #expect(!isToMany(1, 1) && !isToMany(0, 1) && isToMany(0, 0) && isToMany(1, 5))
  }

  @Test("Counting, and checking for a member, creates no objects of the members")
  func withoutMembers() throws {
    try withStack(SampleModels.pets) { stack in
      let seed = stack.context()
      let owner = try seed.make("Person", ["name": "Ann"])
      for index in 0..<50 { try seed.make("Pet", ["name": "\(index)", "owner": owner]) }
      try seed.save()
      let context = stack.context()
      let ann = try context.named("Person", "Ann")
      let pet = try context.named("Pet", "7")
      let calls = stack.store.calls
      try #expect(ann.many("pets").contains(pet))
      #expect(stack.store.calls == calls)
      try #expect(ann.many("pets").count == 50)
      #expect(stack.store.calls == calls + 1 && context.registeredObjects.count == 2)
      try #expect(ann.many("pets").firstIndex(of: pet) != nil && context.registeredObjects.count == 2)
    }
  }

  @Test("Indexes of an ordered relationship: insert, move, replace, sort and remove, also after reopening")
  func places() throws {
    try withStack(SampleModels.shapes) { stack in
      let context = stack.context()
      let parent = try context.make("Node", ["name": "parent"])
      let nodes = try ["a", "b", "c", "d"].map { try context.make("Node", ["name": $0]) }
      let children = try parent.many("children")
      children.insert(contentsOf: nodes[0...2])
      children.insert(nodes[3], at: 1)
      try #expect(parent.names("children") == ["a", "d", "b", "c"])
      children.insert(nodes[0], at: 3)
      try #expect(parent.names("children") == ["d", "b", "c", "a"])
      children.remove(at: 1)
      try #expect(parent.names("children") == ["d", "c", "a"] && nodes[1]["parent"] == nil)
      children.replace(at: 0, with: nodes[1])
      try #expect(parent.names("children") == ["b", "c", "a"] && nodes[3]["parent"] == nil)
      children.replace(at: 0, with: nodes[0])
      try #expect(parent.names("children") == ["a", "c"] && nodes[1]["parent"] == nil)
      children.sort { ($0["name"] as? String ?? "") > ($1["name"] as? String ?? "") }
      #expect(children.firstIndex(of: nodes[2]) == 0 && children.firstIndex(of: nodes[1]) == nil)
      try context.save()
      let fresh = try stack.reopened().context()
      try #expect(fresh.named("Node", "parent").names("children") == ["c", "a"])
    }
  }

  @Test("Iteration visits the members as they were when it began")
  func changeDuringWalk() throws {
    try withStack(SampleModels.pets) { stack in
      let context = stack.context()
      let ann = try context.make("Person")
      for _ in 0..<250 { try context.make("Pet", ["owner": ann]) }
      try context.save()
      var seen = 0
      for pet in try ann.many("pets") {
        pet["owner"] = nil
        seen += 1
      }
      try #expect(seen == 250 && ann.many("pets").isEmpty)
    }
  }
}
