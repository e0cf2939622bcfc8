import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Undo of a child's saves")
struct ChildUndoTests {
  @Test("A child's save is undone and redone in the parent as one group, separate from the parent's own changes")
  func oneGroup() throws {
    try withStack(SampleModels.pets) { stack in
      let parent = stack.context()
      let (ann, bob) = (try parent.make("Person", ["name": "Ann"]), try parent.make("Person", ["name": "Bob"]))
      try parent.make("Pet", ["name": "Tom", "owner": bob])
      try parent.save()
      parent.undoManager = .init()
      ann["nickname"] = "A"
      let child = ManagedObjectContext(parent: parent)
      child.object(with: ann.objectID)["name"] = "Anna"
      try child.make("Pet", ["name": "Rex", "owner": child.object(with: ann.objectID)])
      child.delete(child.object(with: bob.objectID))
      try child.save()
      #expect(try parent.names("Person") == ["Anna"] && ann.names("pets") == ["Rex"])

      parent.undo()
      #expect(try parent.names("Person") == ["Ann", "Bob"] && ann.names("pets").isEmpty)
      #expect(try ann["nickname"] as? String == "A" && parent.names("Pet") == ["Tom"])
      parent.redo()
      #expect(try parent.names("Person") == ["Anna"] && ann.names("pets") == ["Rex"])
      parent.undo()
      parent.undo()
      #expect(ann["nickname"] as? String == "buddy" && !parent.hasChanges)
    }
  }

  @Test("A deletion that a child saved and took back leaves the parent's unsaved changes of the object")
  func deletionTakenBack() throws {
    try withStack(PlainSchema.model) { stack in
      let parent = stack.context()
      let node = try parent.make("Node", ["name": "node"])
      let tags = try ["red", "blue", "green"].map { try parent.make("Tag", ["name": $0]) }
      try node.many("follows").insert(node)
      try node.many("tags").insert(tags[0])
      try node.many("ranked").insert(contentsOf: [tags[0], tags[1]])
      try node.many("picks").insert(tags[0])
      try parent.save()
      node["note"] = "unsaved"
      try node.many("follows").removeAll()
      try node.many("tags").replace(with: [tags[1]])
      try node.many("ranked").replace(with: [tags[2], tags[1]])
      try node.many("picks").replace(with: [tags[2]])
      let child = ManagedObjectContext(parent: parent)
      child.undoManager = .init()
      child.delete(child.object(with: node.objectID))
      try child.save()
      #expect(node.isDeleted)
      child.undo()
      try child.save()
      func check(_ node: ManagedObject) throws {
        #expect(try node["note"] as? String == "unsaved" && node.names("follows").isEmpty)
        #expect(try node.names("followers").isEmpty && node.names("tags") == ["blue"])
        #expect(try node.names("ranked") == ["green", "blue"] && node.names("picks") == ["green"])
      }
      try check(node)
      try parent.save()
      let fresh = try stack.reopened().context()
      try check(fresh.named("Node", "node"))
    }
  }

  @Test("Undoing what a child deleted and brought back leaves the members without an inverse", arguments: [true, false])
  func oneWayMembers(areRead: Bool) throws {
    try withStack(PlainSchema.model) { stack in
      let parent = stack.context()
      let node = try parent.make("Node", ["name": "node"])
      let tag = try parent.make("Tag", ["name": "tag"])
      for relationship in ["picks", "shelf"] { try node.many(relationship).insert(tag) }
      try parent.save()
      parent.undoManager = .init()
      if !areRead { parent.refreshAllObjects() }
      let child = ManagedObjectContext(parent: parent)
      child.undoManager = .init()
      child.delete(child.object(with: node.objectID))
      try child.save()
      child.undo()
      try child.save()
      for _ in 0..<2 { parent.undo() }
      #expect(try node.names("picks") == ["tag"] && node.names("shelf") == ["tag"])
      try parent.save()
      let fresh = try stack.reopened().context()
      let same = try fresh.named("Node", "node")
      #expect(try same.names("picks") == ["tag"] && same.names("shelf") == ["tag"])
    }
  }

  @Test("What a child brought back after a change is deleted with the former values once its save is undone")
  func broughtBackWithChanges() throws {
    try withStack(PlainSchema.model) { stack in
      let parent = stack.context()
      let node = try parent.make("Node", ["name": "node", "note": "former"])
      let tag = try parent.make("Tag", ["name": "tag"])
      try node.many("ranked").insert(tag)
      try parent.save()
      parent.undoManager = .init()
      let child = ManagedObjectContext(parent: parent)
      child.undoManager = .init()
      let hers = child.object(with: node.objectID)
      hers["note"] = "changed"
      child.processPendingChanges()
      child.delete(hers)
      try child.save()
      child.undo()
      try child.save()
      try parent.save()
      #expect(node["note"] as? String == "changed")
      parent.undo()
      #expect(node.isDeleted)
      parent.undo()
      #expect(try node["note"] as? String == "former" && node.names("ranked") == ["tag"])
      #expect(try tag.names("rankers") == ["node"])
    }
  }

  @Test(
    "A new object that a child deleted and brought back is the same once its saves are undone, whether saved or not",
    arguments: [true, false], [true, false])
  func newObjectBroughtBack(isSaved: Bool, hasPermanentID: Bool) throws {
    try withStack(PlainSchema.model) { stack in
      let parent = stack.context()
      parent.undoManager = .init()
      let node = try parent.make("Node", ["name": "node", "note": "former"])
      let tags = try ["red", "blue"].map { try parent.make("Tag", ["name": $0]) }
      node["favourite"] = tags[0]
      node["spouse"] = try parent.make("Node", ["name": "spouse"])
      for relationship in ["ranked", "tags", "picks"] { try node.many(relationship).insert(contentsOf: tags) }
      try node.many("ranked").insert(tags[1], at: 0)
      parent.processPendingChanges()
      if hasPermanentID { try parent.obtainPermanentIDs(for: [node]) }
      let child = ManagedObjectContext(parent: parent)
      child.undoManager = .init()
      child.delete(child.object(with: node.objectID))
      try child.save()
      #expect(node.managedObjectContext == nil)
      child.undo()
      child.object(with: node.objectID)["note"] = "changed"
      try child.save()
      func check(_ node: ManagedObject, _ note: String) throws {
        #expect(node["note"] as? String == note && node.one("spouse")?["name"] as? String == "spouse")
        #expect(try node.one("favourite")?["name"] as? String == "red" && node.names("ranked") == ["blue", "red"])
        #expect(try node.names("tags") == ["blue", "red"] && node.names("picks") == ["blue", "red"])
        #expect(node.one("spouse")?.one("spouse") === node)
      }
      #expect(node.managedObjectContext === parent)
      try check(node, "changed")
      if isSaved { try parent.save() }
      parent.undo()
      #expect(try parent.names("Node") == ["spouse"])
      parent.undo()
      try check(node, "former")
      try parent.save()
      let fresh = try stack.reopened().context()
      try check(fresh.named("Node", "node"), "former")
    }
  }

  @Test("Saves of a child are undone one by one, and undone changes aren't in the store")
  func oneByOne() throws {
    try withStack(SampleModels.people) { stack in
      let parent = stack.context()
      parent.undoManager = .init()
      let child = ManagedObjectContext(parent: parent)
      for name in ["Ann", "Bob"] {
        try child.make("Person", ["name": name])
        try child.save()
      }
      parent.undo()
      #expect(try parent.names("Person") == ["Ann"])
      #expect(try ManagedObjectContext(parent: parent).names("Person") == ["Ann"])
      try parent.save()
      #expect(try stack.reopened().context().names("Person") == ["Ann"])
    }
  }
}
