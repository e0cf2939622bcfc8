import Testing

@testable import Persist
@testable import PersistCore

@Suite("Conflicts of unchanged objects")
struct DetectionTests {
  /// Ann, whom the first context watches and the second one changes or deletes, and Ben, whom the first one changes.
  private func withScene(
    _ policy: MergePolicy, _ body: (_ context: ManagedObjectContext, _ ann: ManagedObject, _ stack: TestStack) throws -> Void
  ) throws {
    try withStack(SampleModels.people) { stack in
      let first = stack.context()
      try first.make("Person", ["name": "Ann", "salary": 1])
      try first.make("Person", ["name": "Ben", "salary": 1])
      try first.save()
      let context = stack.context()
      context.mergePolicy = policy
      let ann = try context.named("Person", "Ann")
      context.detectConflicts(for: ann)
      try context.named("Person", "Ben")["salary"] = 2
      try body(context, ann, stack)
    }
  }

  private func changeAnn(_ stack: TestStack, _ change: (ManagedObject) throws -> Void) throws {
    let other = stack.context()
    try change(other.named("Person", "Ann"))
    try other.save()
  }

  private func salaries(_ stack: TestStack) throws -> [String] {
    try stack.reopened().context().fetch(FetchRequest("Person", sortedBy: "name")).map {
      "\($0["name"] ?? "") \($0["salary"] ?? "")"
    }
  }

  @Test("A save fails if others changed a watched object, and writes nothing")
  func changed() throws {
    try withScene(.error) { context, ann, stack in
      try changeAnn(stack) { $0["salary"] = 9 }
      let error = try #require(persistError { try context.save() })
      #expect(error.code == .mergeConflict && error.mergeConflicts.map(\.sourceObjectID) == [ann.objectID])
      context.refresh(ann, mergeChanges: true)
      try context.save()
      #expect(ann["salary"] as? Int == 9)
      try #expect(salaries(stack) == ["Ann 9", "Ben 2"])
    }
  }

  @Test("A save fails if others deleted a watched object")
  func deleted() throws {
    try withScene(.error) { context, ann, stack in
      try changeAnn(stack) { $0.managedObjectContext?.delete($0) }
      let error = try #require(persistError { try context.save() })
      #expect(error.mergeConflicts.map(\.newVersionNumber) == [0])
      #expect(error.mergeConflicts.map(\.sourceObjectID) == [ann.objectID])
    }
  }

  @Test("Policies that resolve conflicts update a watched object to the newer row", arguments: MergePolicy.settling)
  func settled(_ policy: MergePolicy) throws {
    try withScene(policy) { context, ann, stack in
      try changeAnn(stack) { $0["salary"] = 9 }
      try context.save()
      #expect(ann["salary"] as? Int == 9 && !context.hasChanges)
      try #expect(salaries(stack) == ["Ann 9", "Ben 2"])
    }
  }

  @Test("An object is watched, too, if the context changes only its members", arguments: [true, false])
  func members(isChangedByOthers: Bool) throws {
    try withStack(RandomGraph.model) { stack in
      let (first, second) = (stack.context(), stack.context())
      let node = try first.make("Node", ["name": "a"])
      try first.make("Tag", ["name": "t"])
      try first.save()
      let mine = try second.named("Node", "a")
      second.detectConflicts(for: mine)
      try mine.many("tags").insert(second.named("Tag", "t"))
      if isChangedByOthers { node["name"] = "theirs" }
      try first.save()
      guard isChangedByOthers else { return try second.save() }
      let error = try #require(persistError { try second.save() })
      #expect(error.code == .mergeConflict && error.mergeConflicts.map(\.sourceObjectID) == [mine.objectID])
    }
  }

  @Test("An unchanged row is no conflict, isn't written, and isn't watched after the save")
  func unchanged() throws {
    try withScene(.error) { context, ann, stack in
      try context.save()
      #expect(ann.snapshot?.version == 1)
      try changeAnn(stack) { $0["salary"] = 9 }
      try context.named("Person", "Ben")["salary"] = 3
      try context.save()
      try #expect(salaries(stack) == ["Ann 9", "Ben 3"])
    }
  }

  @Test("A child's save detects the conflict even if its parent has read nothing newer")
  func child() throws {
    try withStack(SampleModels.people) { stack in
      let first = stack.context()
      for name in ["Ann", "Ben"] { try first.make("Person", ["name": name, "salary": 1]) }
      try first.save()
      let parent = stack.context()
      let child = ManagedObjectContext(parent: parent)
      child.detectConflicts(for: try child.named("Person", "Ann"))
      try child.named("Person", "Ben")["salary"] = 2
      try changeAnn(stack) { $0["salary"] = 9 }
      #expect(persistError { try child.save() }?.code == .mergeConflict)
    }
  }
}
