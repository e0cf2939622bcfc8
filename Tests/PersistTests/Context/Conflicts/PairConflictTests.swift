import Foundation
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Conflicts in relationships whose ends were read at different times")
struct PairConflictTests {
  private func withContexts(
    _ policy: MergePolicy, _ body: (_ first: ManagedObjectContext, _ second: ManagedObjectContext) throws -> Void
  ) throws {
    try withStack(RandomGraph.model) { stack in
      let second = stack.context()
      second.mergePolicy = policy
      try body(stack.context(), second)
      let stored = try RandomGraph.everything(in: stack.reopened().context())
      #expect(try GraphState.disagreements(stored) == [])
      var problems: [StoreProblem] = []
      try checkStore(at: stack.url) { if !$0.isHarmless { problems.append($0) } }
      #expect(problems == [])
    }
  }

  @Test(
    "Relating two objects again that others have separated also separates them from their new partners",
    arguments: MergePolicy.settling, [true, false])
  func relatedAgain(policy: MergePolicy, isChanged: Bool) throws {
    try withContexts(policy) { first, second in
      let nodes = try ["a", "b"].map { try first.make("Node", ["name": $0]) }
      let passports = try ["p", "q"].map { try first.make("Passport", ["name": $0]) }
      nodes[0]["passport"] = passports[0]
      try first.save()
      let mine = try second.named("Node", "a")
      nodes[0]["passport"] = passports[1]
      nodes[1]["passport"] = passports[0]
      try first.save()
      let passport = try second.named("Passport", "p")
      #expect(passport.one("holder")?["name"] as? String == "b")
      if isChanged { mine["name"] = "mine" }
      passport["holder"] = mine
      try second.save()
      #expect(try GraphState.disagreements(RandomGraph.everything(in: second)) == [])
    }
  }

  @Test(
    "A deletion reaches the partner to which others related the object, even if the partner's changes are taken back",
    arguments: MergePolicy.settling, [true, false])
  func takenBack(policy: MergePolicy, isTakenBack: Bool) throws {
    try withContexts(policy) { first, second in
      let node = try first.make("Node", ["name": "a"])
      try first.make("Tag", ["name": "t"])
      try first.save()
      let mine = try second.named("Node", "a")
      try first.make("Passport", ["name": "p"])["holder"] = node
      try first.save()
      let passport = try second.named("Passport", "p")
      mine["name"] = "mine"
      second.delete(passport)
      if isTakenBack { mine["name"] = "a" }
      try mine.many("tags").insert(second.named("Tag", "t"))
      try second.save()
      #expect(mine.one("passport") == nil)
      #expect(try mine.names("tags") == ["t"])
    }
  }

  @Test(
    "Separating two objects that others had related separates them in both rows, though one was read before",
    arguments: MergePolicy.settling + [.error], ["replaced", "taken", "emptied", "deleted"])
  func separatedAgain(policy: MergePolicy, way: String) throws {
    try withContexts(policy) { first, second in
      let node = try first.make("Node", ["name": "a"])
      let passports = try ["p", "q"].map { try first.make("Passport", ["name": $0]) }
      try first.save()
      let (old, new) = (try second.named("Passport", "p"), try second.named("Passport", "q"))
      #expect(old.one("holder") == nil)
      node["passport"] = passports[0]
      try first.save()
      let mine = try second.named("Node", "a")
      old["holder"] = mine
      switch way {
      case "replaced": mine["passport"] = new
      case "taken": new["holder"] = mine
      case "emptied": old["holder"] = nil
      default:
        mine["passport"] = nil
        second.delete(mine)
      }
      try second.save()
      #expect(try second.names("Passport") == ["p", "q"])
      #expect(old.one("holder") == nil)
    }
  }

  @Test(
    "A deletion reaches a member that others related to the object, even if it had another owner here meanwhile",
    arguments: MergePolicy.settling, [true, false])
  func formerOwner(policy: MergePolicy, isRemoved: Bool) throws {
    try withContexts(policy) { first, second in
      let nodes = try ["a", "b", "c"].map { try first.make("Node", ["name": $0]) }
      try first.save()
      let member = try second.named("Node", "a")
      #expect(member.one("parent") == nil)
      nodes[0]["parent"] = nodes[1]
      try first.save()
      let other = try second.named("Node", "c")
      member["parent"] = other
      try second.delete(second.named("Node", "b"))
      if isRemoved { try other.many("children").remove(member) } else { member["parent"] = nil }
      try second.save()
      #expect(member.one("parent") == nil)
    }
  }

  @Test("A rollback ends what was to be checked for a deletion")
  func rolledBack() throws {
    try withContexts(.error) { first, second in
      let node = try first.make("Node", ["name": "a"])
      try first.save()
      let mine = try second.named("Node", "a")
      try first.make("Passport", ["name": "p"])["holder"] = node
      try first.save()
      mine["name"] = "mine"
      try second.delete(second.named("Passport", "p"))
      #expect(second.graph.uncheckedEnds == [mine])
      second.rollback()
      try second.make("Tag", ["name": "t"])
      try second.save()
    }
  }
}
