import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Members of to-many relationships without an inverse")
struct OneWayMemberTests {
  private func withShelves(
    ordered isOrdered: Bool, _ body: (TestStack, ManagedObjectContext, _ shelves: [ManagedObject]) throws -> Void
  ) throws {
    let model = ModelDescription(entities: [
      EntityDescription(
        "Shelf", attributes: [AttributeDescription("name", .string)],
        relationships: [RelationshipDescription("things", toMany: "Thing", isOrdered: isOrdered)]),
      EntityDescription("Thing", attributes: [AttributeDescription("name", .string)]),
    ])
    try withStack(model) { stack in
      let context = stack.context()
      let shelves = try ["a", "b"].map { try context.make("Shelf", ["name": $0]) }
      try shelves[0].many("things").insert(try context.make("Thing", ["name": "cup"]))
      try context.save()
      try body(stack, context, shelves)
    }
  }

  @Test(
    "A member added to another owner leaves its former one, whether or not that was read",
    arguments: [true, false], [true, false])
  func moves(isOrdered: Bool, isRead: Bool) throws {
    try withShelves(ordered: isOrdered) { stack, context, shelves in
      if !isRead { context.refreshAllObjects() }
      let cup = try context.named("Thing", "cup")
      try shelves[1].many("things").insert(cup)
      #expect(try shelves.map { try $0.names("things") } == [[], ["cup"]])
      try context.save()
      #expect(try shelves.map { try $0.names("things") } == [[], ["cup"]])
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Shelf", "a").names("things") == [])
      #expect(try fresh.named("Shelf", "b").names("things") == ["cup"])
    }
  }

  @Test(
    "A moved member is restored to its former owner by a rollback and by undo", arguments: [true, false], [true, false])
  func comesBack(isRead: Bool, isUndone: Bool) throws {
    try withShelves(ordered: false) { stack, context, shelves in
      if !isRead { context.refreshAllObjects() }
      if isUndone { context.undoManager = .init() }
      try shelves[1].many("things").insert(try context.named("Thing", "cup"))
      _ = try shelves[0].names("things")
      if isUndone { context.undo() } else { context.rollback() }
      #expect(try shelves.map { try $0.names("things") } == [["cup"], []])
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Shelf", "a").names("things") == ["cup"])
    }
  }

  @Test("A new member can be moved as well")
  func newMember() throws {
    try withShelves(ordered: true) { stack, context, shelves in
      let pot = try context.make("Thing", ["name": "pot"])
      try shelves[0].many("things").insert(pot)
      try shelves[1].many("things").insert(pot)
      #expect(try shelves.map { try $0.names("things") } == [["cup"], ["pot"]])
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Shelf", "a").names("things") == ["cup"])
      #expect(try fresh.named("Shelf", "b").names("things") == ["pot"])
    }
  }

  @Test("A deleted owner comes back with its unsaved member, though another owner had got that")
  func deletedOwner() throws {
    try withShelves(ordered: true) { stack, context, shelves in
      context.undoManager = .init()
      let cup = try context.named("Thing", "cup")
      try shelves[1].many("things").insert(cup)
      context.processPendingChanges()
      context.delete(shelves[1])
      context.processPendingChanges()
      try shelves[0].many("things").insert(cup)
      context.undo()
      #expect(try shelves[0].names("things") == [])
      context.undo()
      #expect(try shelves.map { try $0.names("things") } == [[], ["cup"]])
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Shelf", "b").names("things") == ["cup"])
    }
  }

  @Test("A member that was moved here leaves the owner that others moved it to, for good", arguments: [true, false])
  func movedElsewhere(isRead: Bool) throws {
    try withShelves(ordered: false) { stack, context, shelves in
      let other = stack.context()
      let third = try other.make("Shelf", ["name": "c"])
      try third.many("things").insert(try other.named("Thing", "cup"))
      let cup = try context.named("Thing", "cup")
      try shelves[1].many("things").insert(cup)
      try other.save()
      let mine = context.object(with: third.objectID)
      if isRead { _ = try mine.names("things") }
      context.mergeChanges(from: SavedChanges(inserted: [third.objectID], updated: [shelves[0].objectID]))
      #expect(try shelves[1].names("things") == ["cup"] && mine.names("things") == [])
      try shelves[1].many("things").remove(cup)
      #expect(try mine.names("things") == [])
      try context.save()
      let fresh = try stack.reopened().context()
      for name in ["a", "b", "c"] { try #expect(fresh.named("Shelf", name).names("things") == []) }
    }
  }

  @Test(
    "An owner that was deleted while another one got its member has it again, at its place, when both are undone",
    arguments: [true, false], [true, false])
  func takenWhileDeleted(isRead: Bool, isNew: Bool) throws {
    try withShelves(ordered: true) { stack, context, shelves in
      try shelves[0].many("things").insert(try context.make("Thing", ["name": "jug"]))
      try context.save()
      if isRead { _ = try shelves[0].names("things") } else { context.refreshAllObjects() }
      context.undoManager = .init()
      let cup = try context.named("Thing", "cup")
      context.delete(shelves[0])
      try (isNew ? context.make("Shelf") : shelves[1]).many("things").insert(cup)
      context.undo()
      #expect(try shelves[0].names("things") == ["cup", "jug"])
      #expect(try shelves[1].names("things") == [])
      #expect(!context.hasChanges)
      context.redo()
      context.undo()
      #expect(try shelves[0].names("things") == ["cup", "jug"])
      #expect(!context.hasChanges)
    }
  }

  @Test(
    "An owner whose deletion is undone lacks a member that others gave it and another one got here, until a rollback",
    arguments: [true, false], [true, false])
  func givenWhileDeleted(isRead: Bool, hasChanges: Bool) throws {
    try withShelves(ordered: false) { stack, context, shelves in
      let spoon = try context.make("Thing", ["name": "spoon"])
      try context.save()
      context.undoManager = .init()
      let fresh = try context.make("Shelf", ["name": "c"])
      if hasChanges { try shelves[0].many("things").insert(context.make("Thing", ["name": "jug"])) }
      context.processPendingChanges()
      try fresh.many("things").insert(spoon)
      context.processPendingChanges()
      context.delete(shelves[0])
      context.processPendingChanges()
      try giveSpoon(to: "a", stack, context)
      context.undo()
      let own = hasChanges ? ["cup", "jug"] : ["cup"]
      if isRead { #expect(try shelves[0].names("things") == own) }
      context.undo()
      #expect(try shelves[0].names("things") == own)
      #expect(try fresh.names("things") == [])
      context.rollback()
      #expect(try shelves[0].names("things") == ["cup", "spoon"])
    }
  }

  @Test("A changed owner shows a member that others gave it again after a rollback, though another one had got that")
  func givenBesideChanges() throws {
    try withShelves(ordered: false) { stack, context, shelves in
      let spoon = try context.make("Thing", ["name": "spoon"])
      try context.save()
      try shelves[0].many("things").insert(context.make("Thing", ["name": "jug"]))
      try shelves[1].many("things").insert(spoon)
      try giveSpoon(to: "a", stack, context)
      #expect(try shelves.map { try $0.names("things") } == [["cup", "jug"], ["spoon"]])
      context.rollback()
      #expect(try shelves.map { try $0.names("things") } == [["cup", "spoon"], []])
    }
  }

  @Test("An owner shows a stored member again once the one that had got it here gives it up", arguments: [true, false])
  func givenUp(isRefreshed: Bool) throws {
    try withShelves(ordered: false) { stack, context, shelves in
      let spoon = try context.make("Thing", ["name": "spoon"])
      try context.save()
      context.refreshAllObjects()
      try shelves[1].many("things").insert(spoon)
      // Saved by others and not merged here.
      try giveSpoon(to: "a", stack, nil)
      #expect(try shelves.map { try $0.names("things") } == [["cup"], ["spoon"]])
      if isRefreshed {
        context.refresh(shelves[1], mergeChanges: false)
      } else {
        try shelves[1].many("things").remove(spoon)
      }
      #expect(try shelves.map { try $0.names("things") } == [["cup", "spoon"], []])
    }
  }

  /// Another context saves a new member of a shelf, which a context merges.
  private func giveSpoon(to shelf: String, _ stack: TestStack, _ context: ManagedObjectContext?) throws {
    let other = stack.context()
    let saves = EventRecorder(other)
    try other.named("Shelf", shelf).many("things").insert(other.named("Thing", "spoon"))
    try other.save()
    for saved in saves.saves { context?.mergeChanges(from: saved.savedChanges) }
  }

  @Test("A prefetched owner doesn't show a member that others moved to it and that was added to another one here")
  func prefetchedOwner() throws {
    try withShelves(ordered: false) { stack, context, shelves in
      let spoon = try context.make("Thing", ["name": "spoon"])
      try context.save()
      context.refreshAllObjects()
      try shelves[1].many("things").insert(spoon)
      let other = stack.context()
      try other.named("Shelf", "a").many("things").insert(other.named("Thing", "spoon"))
      try other.save()
      var request = FetchRequest("Shelf")
      request.relationshipKeyPathsForPrefetching = ["things"]
      _ = try context.fetch(request)
      #expect(try shelves.map { try $0.names("things") } == [["cup"], ["spoon"]])
      context.mergePolicy = .mergeByPropertyObjectTrump
      try context.save()
      let fresh = try stack.reopened().context()
      #expect(try fresh.named("Shelf", "a").names("things") == ["cup"])
      #expect(try fresh.named("Shelf", "b").names("things") == ["spoon"])
    }
  }
}
