import Foundation
import Testing

@testable import Persist

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
