import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// Deletions undone after others, or later saves, have changed the related objects.
@Suite("Both sides after an undone deletion")
struct UndoneDeletionTests {
  /// A to-many relationship by the delete rule of its owner, with its inverse.
  private static let owners = [("Keeper", "wards", "keeper"), ("Room", "guests", "room"), ("Tag", "nodes", "tags")]

  private func withContexts(
    _ body: (TestStack, _ context: ManagedObjectContext, _ other: ManagedObjectContext) throws -> Void
  ) throws {
    try withStack(PlainSchema.model) { stack in
      let context = stack.context()
      context.undoManager = .init()
      try body(stack, context, stack.context())
    }
  }

  @Test("A member that others removed in the meantime remains removed", arguments: owners)
  func lostMember(entity: String, members: String, back: String) throws {
    try withContexts { stack, context, other in
      let node = try context.make("Node", ["name": "node"])
      let owner = try context.make(entity, ["name": "owner"])
      try owner.many(members).insert(node)
      try context.save()
      context.delete(owner)
      context.processPendingChanges()
      let theirs = try other.named(entity, "owner")
      try theirs.many(members).removeAll()
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [owner.objectID, node.objectID]))
      context.undo()
      #expect(try owner.names(members) == [])
      let isAlone = try back == "tags" ? node.names(back) == [] : node.one(back) == nil
      #expect(isAlone)
      let hasChanges = [owner, node].contains { $0.hasPersistentChangedValues }
      #expect(!hasChanges)
    }
  }

  @Test("A pair removed before the deletion of one of its objects is restored with both, though others removed it too")
  func removedAndDeleted() throws {
    try withContexts { stack, context, other in
      let node = try context.make("Node", ["name": "node"])
      let tag = try context.make("Tag", ["name": "tag"])
      try node.many("tags").insert(tag)
      try context.save()
      try node.many("tags").remove(tag)
      context.delete(tag)
      context.processPendingChanges()
      try other.named("Node", "node").many("tags").removeAll()
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [tag.objectID, node.objectID]))
      context.undo()
      #expect(try node.names("tags") == ["tag"] && tag.names("nodes") == ["node"])
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Node", "node").names("tags") == ["tag"])
    }
  }

  @Test("A deleted member that others removed in the meantime is restored without its owner")
  func deletedMember() throws {
    try withContexts { stack, context, other in
      let node = try context.make("Node", ["name": "node"])
      let owner = try context.make("Keeper", ["name": "owner"])
      node["keeper"] = owner
      try context.save()
      context.delete(node)
      context.processPendingChanges()
      try other.named("Node", "node").setValue(nil, forKey: "keeper")
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [owner.objectID, node.objectID]))
      context.undo()
      #expect(node.one("keeper") == nil)
      #expect(try owner.names("wards") == [])
    }
  }

  @Test("An owner whose rule leaves its members alone has them again after a saved deletion", arguments: [true, false])
  func savedDeletion(isLoaded: Bool) throws {
    try withContexts { stack, context, other in
      let node = try context.make("Node", ["name": "node"])
      let room = try context.make("Room", ["name": "room"])
      try context.save()
      if !isLoaded { context.refreshAllObjects() }
      context.delete(room)
      context.processPendingChanges()
      let theirs = try other.named("Room", "room")
      try theirs.many("guests").insert(other.named("Node", "node"))
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [room.objectID, node.objectID]))
      try context.save()
      context.undo()
      #expect(node.one("room") === room)
      #expect(try room.names("guests") == ["node"])
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Room", "room").names("guests") == ["node"])
    }
  }

  @Test("A pair that others formed in the meantime is present")
  func newPair() throws {
    try withContexts { stack, context, other in
      let node = try context.make("Node", ["name": "node"])
      let tag = try context.make("Tag", ["name": "tag"])
      try context.save()
      context.delete(node)
      context.processPendingChanges()
      try other.named("Node", "node").many("ranked").insert(other.named("Tag", "tag"))
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [node.objectID, tag.objectID]))
      context.undo()
      #expect(try node.names("ranked") == ["tag"])
      #expect(try tag.names("rankers") == ["node"])
      #expect(!node.hasPersistentChangedValues)
    }
  }

  @Test("A partner that others have assigned in the meantime is its partner again, whoever had that one here")
  func newPartner() throws {
    try withContexts { stack, context, other in
      let (first, second) = (try context.make("Node", ["name": "a"]), try context.make("Node", ["name": "b"]))
      let third = try context.make("Node", ["name": "c"])
      try context.save()
      first["spouse"] = second
      context.delete(third)
      context.processPendingChanges()
      try other.named("Node", "b").setValue(other.named("Node", "c"), forKey: "spouse")
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [second.objectID, third.objectID]))
      context.undo()
      #expect(first.one("spouse") == nil && second.one("spouse") === third && third.one("spouse") === second)
    }
  }

  @Test("The order is the one that others have saved in the meantime")
  func newOrder() throws {
    try withContexts { stack, context, other in
      let node = try context.make("Node", ["name": "node"])
      let tags = try ["s", "t"].map { try context.make("Tag", ["name": $0]) }
      try node.many("ranked").replace(with: tags)
      try context.save()
      context.delete(node)
      context.processPendingChanges()
      try other.named("Node", "node").many("ranked").replace(with: [other.named("Tag", "t"), other.named("Tag", "s")])
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [node.objectID]))
      context.undo()
      #expect(try node.names("ranked") == ["t", "s"])
      #expect(!node.hasPersistentChangedValues)
    }
  }

  @Test("A member restored to its position doesn't override others' orders")
  func oldPlace() throws {
    try withContexts { stack, context, other in
      let drawer = try context.make("Drawer", ["name": "drawer"])
      let node = try context.make("Node", ["name": "node", "drawer": drawer])
      let box = try context.make("Box", ["name": "box"])
      try context.save()
      node["box"] = box
      context.processPendingChanges()
      context.delete(box)
      context.processPendingChanges()
      context.undo()
      let theirs = try other.named("Drawer", "drawer")
      try theirs.many("papers").insert(other.make("Node", ["name": "new"]), at: 0)
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [drawer.objectID]))
      #expect(try drawer.names("papers") == ["new", "node"])
    }
  }

  @Test(
    "A relationship without an inverse leads to the object again after both were deleted", arguments: [true, false])
  func withoutInverse(savesLast: Bool) throws {
    try withContexts { stack, context, other in
      let tag = try context.make("Tag", ["name": "tag"])
      let node = try context.make("Node", ["name": "node", "favourite": tag])
      try context.save()
      context.delete(tag)
      try context.save()
      context.delete(node)
      if savesLast { try context.save() }
      context.undo()
      context.undo()
      #expect(node.one("favourite") === tag)
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Node", "node").one("favourite")?["name"] as? String == "tag")
    }
  }

  @Test("Unsaved members are restored in the order in which they were added")
  func unsavedOrder() throws {
    try withContexts { _, context, _ in
      let node = try context.make("Node", ["name": "node"])
      let tags = try ["s", "t"].map { try context.make("Tag", ["name": $0]) }
      try context.save()
      try node.many("ranked").replace(with: tags)
      context.processPendingChanges()
      context.delete(tags[0])
      context.delete(node)
      context.processPendingChanges()
      context.undo()
      #expect(try node.names("ranked") == ["s", "t"])
    }
  }

  @Test("A saved deletion undone and redone before the next save leaves no trace, whatever the rule", arguments: [
    ("Node", "hall", "Hall", "people"), ("Keeper", "wards", "Node", "keeper"), ("Room", "guests", "Node", "room"),
    ("Node", "visits", "Place", "visitors"),
  ])
  func redone(entity: String, relationship: String, destination: String, inverse: String) throws {
    try withContexts { stack, context, _ in
      let object = try context.make(entity, ["name": "object"])
      let end = try context.make(destination, ["name": "end"])
      try context.save()
      let isToMany = entity != "Node" || relationship == "visits"
      if isToMany { try object.many(relationship).insert(end) } else { object[relationship] = end }
      try context.save()
      context.delete(object)
      // A denied deletion needs members that have another owner.
      if entity == "Keeper" { end[inverse] = nil }
      try context.save()
      for _ in 0..<2 {
        context.undo()
        context.redo()
      }
      try context.save()
      #expect(!context.hasChanges)
      let isAlone = destination == "Node" && inverse != "nodes" ? end.one(inverse) == nil : try end.names(inverse) == []
      #expect(isAlone)
      let fresh = try stack.reopened().context()
      #expect(try fresh.names(entity) == (entity == destination ? ["end"] : []))
    }
  }

  @Test("A deleted member that its delete rule had left is a member again when its removal is undone", arguments: [
    ("club", "Club", "members"), ("hall", "Hall", "people"),
  ])
  func removedAfterDeletion(relationship: String, entity: String, members: String) throws {
    try withContexts { _, context, _ in
      let owner = try context.make(entity, ["name": "owner"])
      let node = try context.make("Node", ["name": "node", relationship: owner])
      try context.save()
      context.delete(node)
      context.processPendingChanges()
      try owner.many(members).removeAll()
      context.processPendingChanges()
      for _ in 0..<2 {
        context.undo()
        let isDenied = persistError { try node.validateForDelete() }?.code == .validationDeleteDenied
        #expect(isDenied == (relationship == "club"))
        context.redo()
        try node.validateForDelete()
      }
      context.undo()
      context.undo()
      #expect(node.one(relationship) === owner)
      #expect(try owner.names(members) == ["node"])
      #expect(!context.hasChanges)
    }
  }

  @Test("An insertion that was undone, redone and saved is undone with its relationships, whatever their delete rules")
  func insertedAgain() throws {
    try withContexts { stack, context, other in
      let club = try context.make("Club", ["name": "club"])
      let node = try context.make("Node", ["name": "node"])
      context.undo()
      context.redo()
      try context.save()
      try other.named("Node", "node").setValue(other.named("Club", "club"), forKey: "club")
      try other.save()
      context.mergeChanges(from: SavedChanges(updated: [club.objectID, node.objectID]))
      context.undo()
      try context.save()
      #expect(try stack.reopened().context().names("Node") == [])
    }
  }

  @Test("A reference to a deleted row that undo has restored survives a refresh, and the row's object gets no change")
  func restoredReferenceToMissingRow() throws {
    try withContexts { stack, context, _ in
      let node = try makeNodeReturnedToDeletedRoom(in: context)
      #expect(node.isUpdated && context.updatedObjects == [node])
      try context.save()
      #expect(node.one("room")?["name"] as? String == nil)
      context.undo()
      #expect(node.one("room")?["name"] as? String == "room")
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Room", "room").names("guests") == ["node"])
    }
  }

  @Test("An object that undo has taken back to before its creation isn't written, also after a refresh on the way")
  func beforeCreation() throws {
    try withContexts { stack, context, _ in
      let node = try makeNodeReturnedToDeletedRoom(in: context)
      while context.undoManager?.canUndo == true { context.undo() }
      #expect(context.updatedObjects.isEmpty && context.deletedObjects == [node])
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.names("Node") == [] && fresh.names("Room") == [])
    }
  }

  /// A node whose room was deleted, and to which undo has related it again. Then all objects were refreshed.
  private func makeNodeReturnedToDeletedRoom(in context: ManagedObjectContext) throws -> ManagedObject {
    let room = try context.make("Room", ["name": "room"])
    let node = try context.make("Node", ["name": "node", "room": room])
    try context.save()
    context.delete(room)
    try context.save()
    node["room"] = nil
    try context.save()
    context.undo()
    context.refreshAllObjects()
    return node
  }

  @Test("An undone deletion that was saved is written again, even after the history has shown the deletion again")
  func replayed() throws {
    try withTemporaryStore { url in
      let model = try ManagedObjectModel(PlainSchema.model)
      let coordinators = try (0..<2).map { _ in
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.addStore(at: url, options: StoreOptions(tracksHistory: true))
        return coordinator
      }
      let context = ManagedObjectContext(coordinators[0])
      context.automaticallyMergesChangesFromParent = true
      context.undoManager = .init()
      let node = try context.make("Node", ["name": "node"])
      try context.save()
      context.delete(node)
      try context.save()
      context.undo()
      let other = ManagedObjectContext(coordinators[1])
      try other.make("Node", ["name": "other"])
      try other.save()
      try context.save()
      try #expect(ManagedObjectContext(coordinators[1]).names("Node") == ["node", "other"])
    }
  }
}
