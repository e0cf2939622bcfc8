import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Conflicts in relationships")
struct RelationshipConflictTests {
  /// Nodes A, B and N, and two tags, in two contexts that have read all of them.
  private struct Scene {
    let stack: TestStack
    let first: ManagedObjectContext
    let second: ManagedObjectContext

    init(_ stack: TestStack, _ policy: MergePolicy) throws {
      self.stack = stack
      first = stack.context()
      second = stack.context()
      second.mergePolicy = policy
      let a = try first.make("Node", ["name": "A"])
      try first.make("Node", ["name": "B"])
      try first.make("Node", ["name": "N", "parent": a])
      for label in ["x", "y", "z"] { try first.make("Tag", ["label": label]) }
      try first.save()
    }

    func node(_ name: String, in context: ManagedObjectContext) throws -> ManagedObject {
      try context.named("Node", name)
    }

    func tag(_ label: String, in context: ManagedObjectContext) throws -> ManagedObject {
      try context.named("Tag", label, by: "label")
    }
  }

  private func withScene(_ policy: MergePolicy, _ body: (Scene) throws -> Void) throws {
    try withStack(SampleModels.shapes) { try body(Scene($0, policy)) }
  }

  @Test("A to-one relationship changed by both is resolved by the policy, on both sides", arguments: [
    (MergePolicy.mergeByPropertyStoreTrump, "B"), (.mergeByPropertyObjectTrump, "C"), (.overwrite, "C"),
    (.rollback, "B"),
  ])
  func toOne(policy: MergePolicy, parent: String) throws {
    try withScene(policy) { scene in
      let mine = try scene.node("N", in: scene.first)
      let copy = try scene.node("N", in: scene.second)
      let parents = try ["A", "B"].map { try scene.node($0, in: scene.second) }
      for parent in parents { _ = try parent.names("children") }
      mine["parent"] = try scene.node("B", in: scene.first)
      try scene.first.save()
      let c = try scene.second.make("Node", ["name": "C"])
      copy["parent"] = c
      try scene.second.save()
      #expect(copy.one("parent")?["name"] as? String == parent)
      #expect(try parents.map { try $0.names("children") } == [[], parent == "B" ? ["N"] : []])
      #expect(try c.names("children") == (parent == "C" ? ["N"] : []))
      let fresh = try scene.stack.reopened().context()
      #expect(try fresh.named("Node", "N").one("parent")?["name"] as? String == parent)
      #expect(try fresh.named("Node", parent).names("children") == ["N"])
    }
  }

  @Test(
    "Members of a many-to-many relationship added by either side are kept",
    arguments: [MergePolicy.error] + MergePolicy.settling)
  func manyToMany(policy: MergePolicy) throws {
    try withScene(policy) { scene in
      let copy = try scene.node("N", in: scene.second)
      _ = try copy.names("tags", by: "label")
      let y = try scene.tag("y", in: scene.second)
      try scene.node("N", in: scene.first).many("tags").insert(scene.tag("x", in: scene.first))
      try scene.first.save()
      try copy.many("tags").insert(y)
      try scene.second.save()
      #expect(try copy.names("tags", by: "label") == ["x", "y"])
      #expect(try y.names("nodes") == ["N"])
      let fresh = try scene.stack.reopened().context()
      #expect(try fresh.named("Node", "N").names("tags", by: "label") == ["x", "y"])
    }
  }

  @Test("Rolling back discards the object's added members on both sides, if these are in conflict too")
  func manyToManyRollback() throws {
    try withScene(.rollback) { scene in
      let copy = try scene.node("N", in: scene.second)
      let y = try scene.tag("y", in: scene.second)
      let mine = try scene.node("N", in: scene.first)
      try mine.many("tags").insert(scene.tag("x", in: scene.first))
      mine["name"] = "theirs"
      try scene.tag("y", in: scene.first)["label"] = "their y"
      try scene.first.save()
      try copy.many("tags").insert(y)
      copy["name"] = "mine"
      y["label"] = "my y"
      try scene.second.save()
      #expect(try copy.names("tags", by: "label") == ["x"] && y.names("nodes") == [])
      let fresh = try scene.stack.reopened().context()
      #expect(try fresh.named("Node", "theirs").names("tags", by: "label") == ["x"])
    }
  }

  @Test("An order changed by both is the object's or the store's, with all members of both", arguments: [
    (MergePolicy.mergeByPropertyStoreTrump, ["z", "x", "y"]), (.mergeByPropertyObjectTrump, ["y", "x", "z"]),
    (.overwrite, ["y", "x", "z"]), (.rollback, ["z", "x", "y"]),
  ])
  func order(policy: MergePolicy, expected: [String]) throws {
    try withScene(policy) { scene in
      let mine = try scene.node("N", in: scene.first)
      for label in ["x", "y"] { try mine.many("ranked").insert(scene.tag(label, in: scene.first)) }
      try scene.first.save()
      let copy = try scene.node("N", in: scene.second)
      _ = try copy.names("ranked", by: "label")
      try mine.many("ranked").insert(scene.tag("z", in: scene.first), at: 0)
      try scene.first.save()
      try copy.many("ranked").insert(scene.tag("y", in: scene.second), at: 0)
      try scene.second.save()
      #expect(try copy.names("ranked", by: "label") == expected)
      let fresh = try scene.stack.reopened().context()
      #expect(try fresh.named("Node", "N").names("ranked", by: "label") == expected)
    }
  }

  @Test("Taking over another object's partner applies to the store too, if the other was set without being changed")
  func stalePartner() throws {
    try withStack(PlainSchema.model) { stack in
      let (first, second) = (stack.context(), stack.context())
      second.mergePolicy = .mergeByPropertyObjectTrump
      try first.make("Passport", ["name": "passport"])
      for name in ["a", "b"] { try first.make("Node", ["name": name, "value": 0]) }
      try first.save()
      let (here, there) = (try second.named("Node", "a"), try second.named("Node", "b"))
      let passport = try second.named("Passport", "passport")
      try first.named("Passport", "passport").setValue(first.named("Node", "b"), forKey: "holder")
      try first.save()
      there["value"] = 0
      here["passport"] = passport
      try second.save()
      #expect(there.one("passport") == nil)
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Node", "b").one("passport") == nil)
      #expect(try fresh.named("Node", "a").one("passport") != nil)
    }
  }

  @Test("Members that others related to an object whose deletion is reverted refer to their owner")
  func membersOfRestoredOwner() throws {
    try withStack(PlainSchema.model) { stack in
      let (first, second) = (stack.context(), stack.context())
      second.mergePolicy = .mergeByPropertyStoreTrump
      let keeper = try first.make("Keeper", ["name": "keeper"])
      let old = try first.make("Node", ["name": "old", "keeper": keeper])
      let new = try first.make("Node", ["name": "new"])
      try first.save()
      let theirs = try second.named("Keeper", "keeper")
      let members = [try second.named("Node", "old"), try second.named("Node", "new")]
      _ = try theirs.names("wards")
      old["value"] = 3
      new["keeper"] = keeper
      try first.save()
      second.delete(members[0])
      try second.save()
      #expect(try theirs.names("wards") == ["new", "old"])
      #expect(members.allSatisfy { $0.one("keeper") === theirs })
    }
  }

  @Test(
    "An object whose deletion is reverted has none of the members that got another owner or were deleted",
    arguments: [MergePolicy.rollback, .mergeByPropertyStoreTrump], [false, true])
  func restoredOwnerOfMovedMembers(policy: MergePolicy, isRead: Bool) throws {
    try withStack(PlainSchema.model) { stack in
      let (first, second) = (stack.context(), stack.context())
      second.mergePolicy = policy
      let owner = try first.make("Node", ["name": "owner"])
      try first.make("Node", ["name": "other"])
      for name in ["a", "b", "c"] { try first.make("Node", ["name": name, "parent": owner]) }
      try first.save()
      let copy = try second.named("Node", "owner")
      if isRead { _ = try copy.names("children") }
      owner["value"] = 2
      try first.save()
      second.delete(try second.named("Node", "b"))
      second.delete(copy)
      try second.named("Node", "other").many("children").insert(second.named("Node", "a"))
      try second.save()
      #expect(copy["value"] as? Int == 2)
      #expect(try copy.names("children") == ["c"])
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Node", "owner").names("children") == ["c"])
      #expect(try fresh.named("Node", "other").names("children") == ["a"])
    }
  }

  @Test(
    "Deleting an object reaches those that others have related to it since they were read",
    arguments: [MergePolicy.error] + MergePolicy.settling)
  func deletionOfNewParent(policy: MergePolicy) throws {
    try withScene(policy) { scene in
      let copies = try ["B", "N"].map { try scene.node($0, in: scene.second) }
      let parent = try scene.first.make("Node", ["name": "C"])
      try scene.node("B", in: scene.first).setValue(parent, forKey: "parent")
      try scene.node("N", in: scene.first).setValue(parent, forKey: "spouse")
      try scene.first.save()
      scene.second.delete(try scene.node("C", in: scene.second))
      try scene.second.save()
      #expect(copies[0].one("parent") == nil && copies[1].one("spouse") == nil)
      let fresh = try scene.stack.reopened().context()
      #expect(try fresh.named("Node", "B").one("parent") == nil)
      #expect(try fresh.named("Node", "N").one("spouse") == nil)
    }
  }

  @Test(
    "A relationship to an object whose row is gone, or goes with the save, is saved as empty",
    arguments: [true, false])
  func endWithoutRow(byOthers: Bool) throws {
    try withScene(.error) { scene in
      let (b, n) = try (scene.node("B", in: scene.second), scene.node("N", in: scene.second))
      if byOthers {
        scene.second.refresh(b, mergeChanges: false)
        scene.first.delete(try scene.node("B", in: scene.first))
        try scene.first.save()
      } else {
        scene.second.delete(b)
      }
      n["spouse"] = b
      scene.second.refreshAllObjects()
      try scene.second.save()
      #expect(n.one("spouse") == nil)
      #expect(try scene.stack.reopened().context().named("Node", "N").one("spouse") == nil)
    }
  }

  @Test("A save refused after its conflicts were resolved leaves the read values unchanged, on both sides")
  func refusedSave() throws {
    try withStack(PlainSchema.model) { stack in
      let (first, second) = (stack.context(), stack.context())
      second.mergePolicy = .overwrite
      for name in ["k", "l"] { try first.make("Keeper", ["name": name]) }
      for name in ["a", "b"] { try first.make("Node", ["name": name]) }
      try first.save()
      let keepers = try ["k", "l"].map { try second.named("Keeper", $0) }
      let nodes = try ["a", "b"].map { try second.named("Node", $0) }
      for keeper in keepers { _ = try keeper.names("wards") }
      try first.named("Node", "a").setValue(first.named("Keeper", "k"), forKey: "keeper")
      try first.named("Node", "b").setValue(first.named("Keeper", "l"), forKey: "keeper")
      try first.save()
      second.delete(keepers[0])
      nodes[1]["value"] = 3
      let error = persistError { try second.save() }
      #expect(error != nil)
      #expect(nodes[1].one("keeper") == nil)
      #expect(try keepers[1].names("wards") == [])
    }
  }
}
