import PersistTestSupport
import Testing

@testable import Persist

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
