import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

/// The law: reading a large value that others replaced returns the newest one; nothing fails over an intact store.
@Suite("Large values with concurrent contexts")
struct LargeValueTests {
  static let model = ModelDescription(
    entities: [
      EntityDescription(
        "Item",
        attributes: [
          AttributeDescription("name", .string), AttributeDescription("number", .int64),
          AttributeDescription("blob", .binary, allowsExternalStorage: true),
          AttributeDescription("parts", .composite, compositeName: "Parts"),
        ])
    ],
    composites: [
      CompositeDescription(
        "Parts",
        elements: [
          AttributeDescription("cover", .binary, allowsExternalStorage: true), AttributeDescription("label", .string),
        ])
    ])

  static func data(_ number: Int) -> Data {
    Data(repeating: UInt8(truncatingIfNeeded: number), count: 150_000 + number)
  }

  /// An item with the large value 1, in a writer's context and in another that hasn't read the value.
  private func withItem(
    _ body: (_ theirs: ManagedObject, _ ours: ManagedObject, TestStack) throws -> Void
  ) throws {
    try withStack(Self.model) { stack in
      let writer = stack.context()
      let theirs = try writer.make("Item", ["name": "a", "number": 1, "blob": Self.data(1)])
      try writer.save()
      let context = stack.context()
      let ours = try context.fetch(FetchRequest("Item"))[0]
      _ = ours["number"]
      try body(theirs, ours, stack)
      let reopened = try stack.reopened()
      var problems: [String] = []
      try checkStore(at: stack.url) { problems.append("\($0)") }
      #expect(problems == [])
      try reopened.store.close()
    }
  }

  private func exchange(_ object: ManagedObject, _ number: Int?) throws {
    object["blob"] = number.map(Self.data)
    try object.managedObjectContext?.save()
  }

  private func saved(_ stack: TestStack) throws -> [Data?] {
    let context = stack.context()
    return try withExtendedLifetime(context) {
      try context.fetch(FetchRequest("Item", sortedBy: "name")).map { $0["blob"] as? Data }
    }
  }

  @Test(
    "A replaced value reads as the newest, even if it is now small, empty or without a row", .aboutFilesOfLargeValues
  )
  func exchanged() throws {
    try withItem { theirs, ours, stack in
      try exchange(theirs, 2)
      #expect(ours["blob"] as? Data == Self.data(2))
      try exchange(theirs, 3)
      try exchange(theirs, 4)
      #expect(ours["blob"] as? Data == Self.data(4))
      theirs["blob"] = Data([1, 2])
      try theirs.managedObjectContext?.save()
      #expect(ours["blob"] as? Data == Data([1, 2]))
      try exchange(theirs, nil)
      #expect(ours["blob"] == nil)
      #expect(try ours.managedObjectContext?.fetch(FetchRequest("Item")).count == 1)
      theirs.managedObjectContext?.delete(theirs)
      try theirs.managedObjectContext?.save()
      #expect(ours["blob"] == nil)
      #expect(try ours.managedObjectContext?.fetch(FetchRequest("Item")).count == 0)
    }
  }

  @Test(
    "A child reads the newest value through its parent, and its parent's unsaved one",
    .aboutFilesOfLargeValues)
  func child() throws {
    try withItem { theirs, ours, stack in
      let parent = try #require(ours.managedObjectContext)
      let child = ManagedObjectContext(parent: parent)
      let below = child.object(with: ours.objectID)
      _ = below["number"]
      try exchange(theirs, 2)
      #expect(below["blob"] as? Data == Self.data(2))
      ours["blob"] = Self.data(3)
      #expect(below["blob"] as? Data == Self.data(3))
      try exchange(theirs, 4)
      #expect(below["blob"] as? Data == Self.data(3))
      #expect(try child.fetch(FetchRequest("Item")).count == 1)
    }
  }

  @Test(
    "An element of a composite value is stored in a file too, and reads as the newest",
    .aboutFilesOfLargeValues)
  func composite() throws {
    try withItem { theirs, ours, stack in
      try theirs.setValue(["cover": Self.data(5)], forKey: "parts")
      try theirs.managedObjectContext?.save()
      ours.managedObjectContext?.refresh(ours, mergeChanges: false)
      func cover() -> Data? { (ours["parts"] as? [String: Any])?["cover"] as? Data }
      #expect(cover() == Self.data(5))
      try theirs.setValue(["cover": Self.data(6)], forKey: "parts")
      try theirs.managedObjectContext?.save()
      #expect(cover() == Self.data(6))
    }
  }

  @Test(
    "A large value that others saved too is no local change: it is removed when they remove it",
    arguments: [false, true])
  func equal(isMergedTwice: Bool) throws {
    try withItem { theirs, ours, stack in
      let (writer, context) = (try #require(theirs.managedObjectContext), try #require(ours.managedObjectContext))
      func merge() { context.mergeChanges(from: SavedChanges(updated: [theirs.objectID])) }
      ours["blob"] = Self.data(2)
      try exchange(theirs, 2)
      merge()
      #expect(ours["blob"] as? Data == Self.data(2) && !ours.hasPersistentChangedValues)
      if isMergedTwice {
        theirs["number"] = 5
        try writer.save()
        merge()
      }
      try exchange(theirs, 3)
      merge()
      #expect(ours["blob"] as? Data == Self.data(3) && !ours.hasPersistentChangedValues)
      // A different value of the same size is a change.
      ours["blob"] = Data(Self.data(4).reversed())
      theirs["blob"] = Data(Self.data(4).dropLast() + [9])
      try writer.save()
      merge()
      #expect(ours["blob"] as? Data == Self.data(4) && ours.hasPersistentChangedValues)
      try context.save()
      #expect(try saved(stack) == [Self.data(4)])
    }
  }

  @Test(
    "Each merge policy saves or reports a conflict, and the saved value follows the policy", .aboutFilesOfLargeValues,
    arguments: [
      (MergePolicy.mergeByPropertyObjectTrump, 2, 8), (.mergeByPropertyStoreTrump, 2, 8),
      // A value in a file isn't overwritten if it wasn't read.
      (.overwrite, TestEngine.current == .sqlite ? 2 : 1, 8),
      (.rollback, 2, 1),
    ])
  func policies(_ policy: MergePolicy, blob: Int, number: Int) throws {
    try withItem { theirs, ours, stack in
      let context = try #require(ours.managedObjectContext)
      try exchange(theirs, 2)
      context.mergePolicy = policy
      ours["number"] = 8
      try context.save()
      #expect(try saved(stack) == [Self.data(blob)])
      #expect(try stack.context().fetch(FetchRequest("Item"))[0]["number"] as? Int == number)
      #expect(ours["blob"] as? Data == Self.data(blob))
      try context.save()
    }
  }

  @Test(
    "Without a policy, the save reports a conflict that leaves the object unchanged",
    .aboutFilesOfLargeValues)
  func conflict() throws {
    try withItem { theirs, ours, stack in
      let context = try #require(ours.managedObjectContext)
      try exchange(theirs, 2)
      ours["blob"] = Self.data(3)
      #expect(
        performing: { try context.save() },
        throws: { ($0 as? PersistenceError)?.code == .mergeConflict })
      #expect(ours["blob"] as? Data == Self.data(3))
      context.rollback()
      #expect(ours["blob"] as? Data == Self.data(2))
      #expect(try saved(stack) == [Self.data(2)])
      ours["number"] = 9
      try? context.save()
      context.rollback()
      #expect(try context.fetch(FetchRequest("Item")).count == 1)
    }
  }

  @Test(
    "Undo restores a deleted object with its value, whether or not others replaced it", .aboutFilesOfLargeValues,
    arguments: [false, true])
  func undoDeletion(isExchanged: Bool) throws {
    try withItem { theirs, ours, stack in
      let context = try #require(ours.managedObjectContext)
      context.undoManager = .init()
      context.mergePolicy = .mergeByPropertyObjectTrump
      if isExchanged { try exchange(theirs, 2) }
      // A value in a row is the one that was read.
      let restored = Self.data(isExchanged && TestEngine.current == .sqlite ? 2 : 1)
      context.delete(ours)
      try context.save()
      #expect(try saved(stack) == [])
      context.undo()
      #expect(ours["blob"] as? Data == restored)
      try context.save()
      #expect(try saved(stack) == [restored])
      context.redo()
      try context.save()
      #expect(try saved(stack) == [])
      context.undo()
      try context.save()
      #expect(try saved(stack) == [restored])
    }
  }

  @Test("Undo and redo restore values across saves, including others' saves in the meantime")
  func undoChange() throws {
    try withItem { theirs, ours, stack in
      let context = try #require(ours.managedObjectContext)
      context.undoManager = .init()
      context.mergePolicy = .mergeByPropertyObjectTrump
      ours["blob"] = Self.data(2)
      try context.save()
      context.undo()
      try context.save()
      #expect(try saved(stack) == [Self.data(1)])
      context.redo()
      try context.save()
      #expect(try saved(stack) == [Self.data(2)])
      theirs.managedObjectContext?.refreshAllObjects()
      try exchange(theirs, 7)
      context.undo()
      #expect(ours["blob"] as? Data == Self.data(1))
      try context.save()
      #expect(try saved(stack) == [Self.data(1)])
    }
  }

  @Test(
    "A missing file that a row still names is an error that names the file",
    .aboutFilesOfLargeValues)
  func missing() throws {
    try withStack(Self.model) { stack in
      let context = stack.context()
      _ = try context.make("Item", ["blob": Self.data(1)])
      try context.save()
      let folder = ExternalDataFolder(storeAt: stack.url)
      for name in folder.names() {
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent(name))
      }
      let other = stack.context()
      let object = try other.fetch(FetchRequest("Item"))[0]
      #expect(object["blob"] == nil)
      #expect(
        performing: { try other.fetch(FetchRequest("Item")) },
        throws: { ($0 as? PersistenceError)?.code == .fileAccess })
    }
  }

  @Test("A large value saved here doesn't count as changed by others who changed another property")
  func changedBesideOthers() throws {
    try withItem { theirs, ours, _ in
      let writer = try #require(theirs.managedObjectContext)
      writer.automaticallyMergesChangesFromParent = true
      theirs["blob"] = nil
      ours["number"] = 2
      try ours.managedObjectContext?.save()
      writer.processPendingChanges()
      #expect(theirs["number"] as? Int == 2)
      try writer.save()
      #expect(theirs["number"] as? Int == 2 && theirs["blob"] == nil)
    }
  }

  @Test("A large value saved here is written under a policy by which others' changes win")
  func keptBesideOthers() throws {
    try withItem { theirs, ours, stack in
      let writer = try #require(theirs.managedObjectContext)
      writer.mergePolicy = .mergeByPropertyStoreTrump
      theirs["blob"] = Self.data(3)
      ours["number"] = 2
      try ours.managedObjectContext?.save()
      try writer.save()
      #expect(theirs["number"] as? Int == 2)
      #expect(try saved(stack) == [Self.data(3)])
    }
  }
}
