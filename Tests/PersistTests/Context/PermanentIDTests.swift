import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Permanent identifiers before a save")
struct PermanentIDTests {
  @Test("A new object keeps the permanent identifier that it obtained before its save, also in others' relationships")
  func beforeSaving() throws {
    try withStack(SampleModels.shapes) { stack in
      let context = stack.context()
      let parent = try context.make("Node", ["name": "parent"])
      let children = try ["a", "b"].map { try context.make("Leaf", ["name": $0, "parent": parent]) }
      let tag = try context.make("Tag", ["label": "t"])
      try children[0].many("tags").insert(tag)
      children[1]["favourite"] = tag
      let temporary = tag.objectID
      try context.obtainPermanentIDs(for: [tag, children[0], parent, parent])
      let ids = [tag, children[0], parent].map(\.objectID)
      #expect(ids.allSatisfy { !$0.isTemporaryID } && Set(ids).count == 3 && children[1].objectID.isTemporaryID)
      #expect(context.registeredObject(for: ids[0]) === tag && context.registeredObject(for: temporary) === tag)
      try #expect(context.existingObject(with: ids[1]) === children[0])
      #expect(tag.isInserted && children[0].one("parent") === parent && children[1].one("favourite") === tag)
      try #expect(parent.many("children").contains(children[0]) && parent.names("children") == ["a", "b"])
      try #expect(children[0].many("tags").contains(tag) && tag.names("nodes") == ["a"])
      try context.obtainPermanentIDs(for: [tag])
      try context.save()
      #expect([tag, children[0], parent].map(\.objectID) == ids)
      let fresh = try stack.reopened().context()
      let again = fresh.object(with: ids[2])
      try #expect(again["name"] as? String == "parent" && again.names("children") == ["a", "b"])
      try #expect(fresh.object(with: ids[1]).names("tags", by: "label") == ["t"])
    }
  }

  @Test("Reserved keys aren't used for other rows, whether or not their objects are saved")
  func unusedKeys() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let (ann, ben) = (try context.make("Person", ["name": "Ann"]), try context.make("Person", ["name": "Ben"]))
      try context.obtainPermanentIDs(for: [ann])
      let id = ann.objectID
      context.delete(ann)
      #expect(context.registeredObject(for: id) == nil)
      try context.save()
      #expect(ben.objectID != id)
      try #expect(stack.reopened().context().names("Person") == ["Ben"])
    }
  }

  @Test("A rolled-back object with a permanent identifier is removed, and another context never sees it")
  func rolledBack() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      let ann = try context.make("Person", ["name": "Ann"])
      try context.obtainPermanentIDs(for: [ann])
      let id = ann.objectID
      #expect(persistError { _ = try stack.context().existingObject(with: id) }?.code == .objectNotFound)
      context.rollback()
      #expect(ann.managedObjectContext == nil && !context.hasChanges)
      #expect(persistError { _ = try context.existingObject(with: id) }?.code == .objectNotFound)
    }
  }
}
