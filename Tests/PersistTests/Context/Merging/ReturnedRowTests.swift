import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Rows deleted and restored with concurrent contexts")
struct ReturnedRowTests {
  /// Two contexts that have read the same objects; one is notified of the other's saves.
  private struct Scene {
    let stack: TestStack
    let context: ManagedObjectContext
    let other: ManagedObjectContext
    private let saves: [EventRecorder]

    init(_ stack: TestStack) {
      self.stack = stack
      context = stack.context()
      other = stack.context()
      saves = [EventRecorder(context), EventRecorder(other)]
      context.undoManager = .init()
      other.undoManager = .init()
    }

    /// Saves one of the contexts, and notifies the other one.
    func save(_ saver: ManagedObjectContext) throws {
      try saver.save()
      let index = saver === context ? 0 : 1
      guard let saved = saves[index].saves.last?.savedChanges else { return }
      (index == 0 ? other : context).mergeChanges(from: saved)
    }
  }

  private func withScene(_ body: (Scene) throws -> Void) throws {
    try withStack(PlainSchema.model) { try body(Scene($0)) }
  }

  @Test("After a merged deletion, saved references still lead to the object, whether their holder is changed or not")
  func holders() throws {
    try withScene { scene in
      let node = try scene.context.make("Node", ["name": "node"])
      let tag = try scene.context.make("Tag", ["name": "tag"])
      node["favourite"] = tag
      try scene.save(scene.context)
      let mine = try scene.other.named("Node", "node")
      mine["value"] = 2
      scene.context.delete(tag)
      try scene.save(scene.context)
      scene.context.undo()
      try scene.save(scene.other)
      #expect(node["value"] as? Int == 2)
      #expect(node.one("favourite") === tag)
      try scene.save(scene.context)
      let fresh = try scene.stack.reopened().context()
      #expect(try fresh.named("Node", "node").one("favourite")?["name"] as? String == "tag")
    }
  }

  @Test("Discarded changes leave a reference to a deleted row, which leads to the object again once it is restored")
  func discardedHolder() throws {
    try withScene { scene in
      let node = try scene.context.make("Node", ["name": "node"])
      let tag = try scene.context.make("Tag", ["name": "tag"])
      node["favourite"] = tag
      try scene.save(scene.context)
      let mine = try scene.other.named("Node", "node")
      scene.context.delete(tag)
      try scene.save(scene.context)
      scene.context.undo()
      mine["value"] = 2
      scene.other.refresh(mine, mergeChanges: false)
      #expect(mine.one("favourite")?.isDeleted == true)
      try scene.save(scene.context)
      #expect(mine.one("favourite")?["name"] as? String == "tag")
      #expect(!scene.other.hasChanges)
    }
  }

  @Test("A row that others restore is a member of the restored object to which it refers")
  func member() throws {
    try withScene { scene in
      let node = try scene.context.make("Node", ["name": "node"])
      let room = try scene.context.make("Room", ["name": "room"])
      node["room"] = room
      try scene.save(scene.context)
      let theirs = try scene.other.named("Node", "node")
      scene.context.delete(room)
      scene.other.delete(theirs)
      try scene.save(scene.other)
      try scene.save(scene.context)
      scene.context.undo()
      #expect(try room.names("guests") == [])
      scene.other.undo()
      try scene.save(scene.other)
      let back = try scene.context.named("Node", "node")
      #expect(back.one("room") === room)
      #expect(try room.names("guests") == ["node"])
      try scene.save(scene.context)
      let fresh = try scene.stack.reopened().context()
      #expect(try fresh.named("Room", "room").names("guests") == ["node"])
    }
  }

  @Test("A member removed from an object while that was deleted isn't its member when others restore it")
  func formerMember() throws {
    try withScene { scene in
      let room = try scene.context.make("Room", ["name": "room"])
      try scene.context.make("Node", ["name": "node", "room": room])
      try scene.save(scene.context)
      let theirs = try scene.other.named("Room", "room")
      let node = try scene.other.named("Node", "node")
      scene.context.delete(room)
      try scene.save(scene.context)
      scene.context.undo()
      node["room"] = nil
      try scene.save(scene.context)
      #expect(try scene.other.named("Room", "room").names("guests") == [])
      #expect(!theirs.isDeleted && node.one("room") == nil)
      try scene.save(scene.other)
      let fresh = try scene.stack.reopened().context()
      #expect(try fresh.named("Room", "room").names("guests") == [])
    }
  }

  @Test("A deleted row takes its many-to-many pairs along, whatever its rule, and returns only with those it then has")
  func pairs() throws {
    try withScene { scene in
      let node = try scene.context.make("Node", ["name": "node"])
      try scene.context.make("Place", ["name": "place"])
      try scene.save(scene.context)
      scene.context.delete(node)
      let place = try scene.other.named("Place", "place")
      try place.related("visitors").insert(scene.other.named("Node", "node"))
      try scene.save(scene.other)
      // As a fault, the deleted object doesn't know its places.
      try scene.other.refresh(scene.other.named("Node", "node"), mergeChanges: false)
      #expect(try place.names("visitors") == ["node"])
      try scene.save(scene.context)
      #expect(try place.related("visitors").isEmpty)
      scene.context.undo()
      try scene.save(scene.context)
      #expect(try place.names("visitors") == [])
      #expect(try scene.context.named("Place", "place").names("visitors") == [])
      let fresh = try scene.stack.reopened().context()
      #expect(try fresh.named("Node", "node").names("visits") == [])
    }
  }

  @Test("A row that was deleted and inserted again between two merges is read again", arguments: [true, false])
  func replacedRow(isHeldWhole: Bool) throws {
    try withScene { scene in
      let node = try scene.context.make("Node", ["name": "old", "value": 1])
      try scene.context.save()
      let view = scene.stack.context()
      view.automaticallyMergesChangesFromParent = true
      let shown = view.object(with: node.objectID)
      if isHeldWhole { #expect(shown["name"] as? String == "old") }
      let recorder = EventRecorder(view)
      scene.context.delete(node)
      try scene.context.save()
      scene.context.undo()
      node["name"] = "new"
      try scene.context.save()
      view.processPendingChanges()
      #expect(shown["name"] as? String == "new" && shown["value"] as? Int == 1)
      if isHeldWhole { #expect(recorder.changes.last?.refreshed == [shown]) }
      shown["value"] = 2
      try view.save()
    }
  }
}
