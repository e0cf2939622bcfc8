import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Members that several contexts add and remove")
struct CommutingMemberTests {
  private static let model = ModelDescription(entities: [
    EntityDescription(
      "Item", attributes: [AttributeDescription("name", .string)],
      relationships: [
        RelationshipDescription("category", to: "Category", inverse: "items"),
        RelationshipDescription("shelf", to: "Category", inverse: "shelved"),
        RelationshipDescription("box", to: "Category", inverse: "boxed"),
        RelationshipDescription("tags", toMany: "Tag", inverse: "items"),
        RelationshipDescription("labeled", toMany: "Category", inverse: "labels"),
      ]),
    EntityDescription(
      "Category", attributes: [AttributeDescription("name", .string)],
      relationships: [
        RelationshipDescription("items", toMany: "Item", inverse: "category"),
        RelationshipDescription("shelved", toMany: "Item", inverse: "shelf", isOrdered: true),
        RelationshipDescription("boxed", toMany: "Item", inverse: "box", maximumCount: 2),
        RelationshipDescription("labels", toMany: "Item", inverse: "labeled", isOrdered: true),
      ]),
    EntityDescription(
      "Tag", attributes: [AttributeDescription("name", .string)],
      relationships: [RelationshipDescription("items", toMany: "Item", inverse: "tags")]),
  ])

  static let policies = [MergePolicy.error] + MergePolicy.settling

  @Test(
    "Members that two contexts add to the same owners don't conflict, and versions count every save",
    arguments: policies)
  func additions(policy: MergePolicy) throws {
    try withStack(Self.model) { stack in
      let (first, second) = (stack.context(), stack.context())
      second.mergePolicy = policy
      try first.make("Category", ["name": "category"])
      try first.make("Tag", ["name": "tag"])
      try first.save()
      for (context, name) in [(first, "a"), (second, "b")] {
        let category = try context.named("Category", "category")
        try context.make("Item", ["name": name, "category": category, "shelf": category])
          .many("tags").insert(context.named("Tag", "tag"))
      }
      try first.save()
      try second.save()
      // The second one shows the values saved by the first.
      #expect(try second.named("Category", "category").names("items") == ["a", "b"])
      #expect(try second.named("Tag", "tag").names("items") == ["a", "b"])
      let fresh = try stack.reopened().context()
      let category = try fresh.named("Category", "category")
      #expect(try category.names("items") == ["a", "b"])
      #expect(try category.names("shelved") == ["a", "b"])
      #expect(try fresh.named("Tag", "tag").names("items") == ["a", "b"])
      #expect(category.snapshot?.version == 3)
    }
  }

  @Test(
    "Members that others have added keep their positions in a new order, and no position is assigned twice",
    arguments: [MergePolicy.overwrite, .mergeByPropertyObjectTrump], ["shelved", "labels"])
  func reordered(policy: MergePolicy, members: String) throws {
    try withStack(Self.model) { stack in
      let (first, second) = (stack.context(), stack.context())
      second.mergePolicy = policy
      let category = try first.make("Category", ["name": "category"])
      let later = try first.make("Item", ["name": "d"])
      try first.save()
      category[members] = try ["a", "b", "c"].map { try first.make("Item", ["name": $0]) }
      try first.save()
      let other = try second.named("Category", "category")
      #expect(try other.names(members) == ["a", "b", "c"])
      try category.many(members).insert(later)
      try first.save()
      try other.many(members).insert(second.named("Item", "a"), at: 2)
      try second.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Category", "category").names(members) == ["b", "c", "a", "d"])
    }
  }

  @Test("Removed and added members are merged, including the ends of ordered relationships", arguments: policies)
  func removals(policy: MergePolicy) throws {
    try withStack(Self.model) { stack in
      let (first, second) = (stack.context(), stack.context())
      second.mergePolicy = policy
      let category = try first.make("Category", ["name": "category"])
      category["shelved"] = try ["a", "b", "c"].map { try first.make("Item", ["name": $0]) }
      try first.save()
      let other = try second.named("Category", "category")
      try category.many("shelved").remove(first.named("Item", "a"))
      try category.many("shelved").insert(first.make("Item", ["name": "d"]))
      try other.many("shelved").remove(second.named("Item", "c"))
      try other.many("shelved").insert(contentsOf: ["f", "e"].map { try second.make("Item", ["name": $0]) })
      try first.save()
      try second.save()
      #expect(try other.names("shelved") == ["b", "d", "f", "e"])
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Category", "category").names("shelved") == ["b", "d", "f", "e"])
    }
  }

  @Test("After a concurrent save, an owner has the others' values, so that none is overwritten unseen")
  func values() throws {
    try withStack(Self.model) { stack in
      let (first, second) = (stack.context(), stack.context())
      let category = try first.make("Category", ["name": "category"])
      try first.save()
      let other = try second.named("Category", "category")
      category["name"] = "theirs"
      try first.save()
      try second.make("Item", ["name": "a", "category": other])
      try second.save()
      #expect(other["name"] as? String == "theirs")
      other["name"] = "mine"
      try second.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Category", "mine").names("items") == ["a"])
    }
  }

  @Test("Reordered members, members with a maximum count, and deleted owners still conflict")
  func conflicts() throws {
    try withStack(Self.model) { stack in
      let (first, second) = (stack.context(), stack.context())
      let category = try first.make("Category", ["name": "category"])
      category["shelved"] = try ["a", "b"].map { try first.make("Item", ["name": $0]) }
      try first.save()
      let other = try second.named("Category", "category")
      try other.many("shelved").insert(second.named("Item", "b"), at: 0)
      try first.make("Item", ["name": "c", "shelf": category])
      try first.save()
      #expect(persistError { try second.save() }?.code == .mergeConflict)
      second.rollback()
      second.refreshAllObjects()

      for name in ["d", "e"] { try first.make("Item", ["name": name, "box": category]) }
      try second.make("Item", ["name": "f", "box": other])
      try first.save()
      second.mergePolicy = .mergeByPropertyObjectTrump
      #expect(persistError { try second.save() }?.code == .validationTooManyObjects)
      second.mergePolicy = .error
      second.rollback()
      second.refreshAllObjects()

      try second.make("Item", ["name": "g", "category": other])
      first.delete(category)
      try first.save()
      #expect(persistError { try second.save() }?.code == .mergeConflict)
    }
  }

  @Test("Under the rollback policy, an object without a conflict is saved with all of its relationships")
  func rollback() throws {
    try withStack(Self.model) { stack in
      let (first, second) = (stack.context(), stack.context())
      second.mergePolicy = .rollback
      let tag = try first.make("Tag", ["name": "tag"])
      try first.save()
      let other = try second.named("Tag", "tag")
      other["name"] = "mine"
      try second.make("Item", ["name": "a"]).many("tags").insert(other)
      tag["name"] = "theirs"
      try first.save()
      try second.save()
      #expect(other["name"] as? String == "theirs")
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Item", "a").names("tags") == ["theirs"])
    }
  }

  @Test(
    "A pair that both added is reread on both sides, with the pairs that others changed",
    arguments: MergePolicy.settling)
  func samePair(policy: MergePolicy) throws {
    try withStack(Self.model) { stack in
      let (first, second) = (stack.context(), stack.context())
      second.mergePolicy = policy
      let category = try first.make("Category", ["name": "category"])
      let items = try ["a", "b", "c"].map { try first.make("Item", ["name": $0]) }
      let tag = try first.make("Tag", ["name": "tag"])
      tag["items"] = [items[0]]
      try first.save()

      let other = try second.named("Tag", "tag")
      let others = try ["a", "b", "c"].map { try second.named("Item", $0) }
      #expect(try others.map { try $0.names("tags") } == [["tag"], [], []])
      #expect(try other.names("items") == ["a"])
      tag["items"] = [items[1], items[2]]
      items[1]["category"] = category
      try first.save()
      // Only the item's row conflicts.
      try other.many("items").insert(others[1])
      others[1]["name"] = "mine"
      try second.save()
      #expect(Set(try other.many("items")) == [others[1], others[2]])
      #expect(try others.map { try $0.names("tags") } == [[], ["tag"], ["tag"]])
    }
  }
}
