import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel
@testable import PersistTools

/// Large values beside other contexts, as an attribute and as an element of a composite one.
@Suite("Large values in composites", .aboutFilesOfLargeValues)
struct CompositeFileTests {
  /// The place of an item's large value.
  enum Place: String, CaseIterable {
    case attribute = "blob"
    case element = "parts"

    func set(_ number: Int?, of object: ManagedObject) throws {
      let path = self == .attribute ? rawValue : "parts.cover"
      try object.setValue(number.map(LargeValueTests.data), forKeyPath: path)
    }

    func data(of object: ManagedObject) -> Data? {
      switch self {
      case .attribute: object["blob"] as? Data
      case .element: (object["parts"] as? [String: Any])?["cover"] as? Data
      }
    }

    /// The number of a large value; nil for none, and for one that isn't whole.
    func number(of object: ManagedObject) -> Int? {
      guard let data = data(of: object), data.count >= 150_000 else { return nil }
      let number = data.count - 150_000
      return data == LargeValueTests.data(number) ? number : nil
    }
  }

  private struct Scene {
    let place: Place
    let stack: TestStack
    let writer: ManagedObjectContext
    let context: ManagedObjectContext
    let theirs: ManagedObject
    let ours: ManagedObject

    /// An item with the large value 1 and the label a, in a writer's context and in another that hasn't read the value.
    init(_ place: Place, _ stack: TestStack) throws {
      (self.place, self.stack) = (place, stack)
      (writer, context) = (stack.context(), stack.context())
      theirs = try writer.make("Item", ["name": "a", "number": 1, "parts": ["label": "a"]])
      try place.set(1, of: theirs)
      try writer.save()
      ours = try context.fetch(FetchRequest("Item"))[0]
      _ = ours["number"]
    }

    func exchange(_ number: Int?) throws {
      try place.set(number, of: theirs)
      try writer.save()
    }

    func number(_ object: ManagedObject) -> Int? { place.number(of: object) }

    /// The value that a new context reads.
    func saved() throws -> [String] {
      let context = stack.context()
      return try withExtendedLifetime(context) {
        try context.fetch(FetchRequest("Item", sortedBy: "name")).map { item in
          let label = (item["parts"] as? [String: Any])?["label"] as? String
          return "\(place.number(of: item).map(String.init) ?? "-") \(label ?? "-") \(item["number"] ?? "-")"
        }
      }
    }
  }

  private func withScene(_ place: Place, _ body: (Scene) throws -> Void) throws {
    try withStack(LargeValueTests.model) { stack in
      try body(Scene(place, stack))
      let reopened = try stack.reopened()
      var problems: [String] = []
      try StoreCheck.check(storeAt: stack.url) { problems.append("\($0)") }
      #expect(problems == [])
      try reopened.store.close()
    }
  }

  @Test("Changing another element keeps the value, also after others exchanged its file", arguments: Place.allCases)
  func otherElement(place: Place) throws {
    try withScene(place) { scene in
      try scene.ours.setValue("b", forKeyPath: "parts.label")
      try scene.context.save()
      #expect(try scene.saved() == ["1 b 1"])
      scene.writer.refreshAllObjects()
      scene.context.refreshAllObjects()
      _ = scene.ours["number"]
      try scene.exchange(2)
      scene.context.mergePolicy = .mergeByPropertyObjectTrump
      try scene.ours.setValue("c", forKeyPath: "parts.label")
      try scene.context.save()
      #expect(try scene.saved() == ["2 c 1"])
      #expect(scene.number(scene.ours) == 2)
    }
  }

  @Test("A value saved here doesn't count as changed by others who changed another property", arguments: Place.allCases)
  func changedBesideOthers(place: Place) throws {
    try withScene(place) { scene in
      scene.writer.automaticallyMergesChangesFromParent = true
      try place.set(3, of: scene.theirs)
      scene.ours["number"] = 2
      try scene.context.save()
      scene.writer.processPendingChanges()
      #expect(scene.theirs["number"] as? Int == 2)
      try scene.writer.save()
      #expect(try scene.saved() == ["3 a 2"])
    }
  }

  @Test("A value saved here is written under a policy by which others' changes win", arguments: Place.allCases)
  func keptBesideOthers(place: Place) throws {
    try withScene(place) { scene in
      scene.writer.mergePolicy = .mergeByPropertyStoreTrump
      try place.set(3, of: scene.theirs)
      scene.ours["number"] = 2
      try scene.context.save()
      try scene.writer.save()
      #expect(scene.theirs["number"] as? Int == 2)
      #expect(try scene.saved() == ["3 a 2"])
    }
  }

  @Test("Each merge policy saves the value that it says, or reports the conflict", arguments: Place.allCases, [
    (MergePolicy.error, "3 a 1"), (.mergeByPropertyStoreTrump, "3 a 8"), (.mergeByPropertyObjectTrump, "2 a 8"),
    (.overwrite, "2 a 8"), (.rollback, "3 a 1"),
  ])
  func policies(place: Place, expected: (policy: MergePolicy, stored: String)) throws {
    try withScene(place) { scene in
      #expect(scene.number(scene.ours) == 1)
      try place.set(2, of: scene.ours)
      scene.ours["number"] = 8
      try scene.exchange(3)
      scene.context.mergePolicy = expected.policy
      let error = persistError { try scene.context.save() }
      #expect(error?.code == (expected.policy.mergeType == .error ? .mergeConflict : nil))
      if error != nil {
        #expect(scene.number(scene.ours) == 2)
        scene.context.rollback()
      }
      #expect(try scene.saved() == [expected.stored])
      #expect(scene.number(scene.ours) == Int(expected.stored.prefix(1)))
      #expect(!scene.context.hasChanges)
    }
  }

  @Test("A value that others saved too is no change here, and goes when they remove it", arguments: Place.allCases)
  func equal(place: Place) throws {
    try withScene(place) { scene in
      func merge() { scene.context.mergeChanges(from: SavedChanges(updated: [scene.theirs.objectID])) }
      try place.set(2, of: scene.ours)
      try scene.exchange(2)
      merge()
      #expect(scene.number(scene.ours) == 2 && !scene.ours.hasPersistentChangedValues)
      try scene.exchange(nil)
      merge()
      #expect(place.data(of: scene.ours) == nil && !scene.ours.hasPersistentChangedValues)
    }
  }

  @Test("A value that is set to what its file contains is no change", arguments: Place.allCases)
  func unchanged(place: Place) throws {
    try withScene(place) { scene in
      try place.set(1, of: scene.ours)
      try scene.exchange(2)
      #expect(!scene.ours.hasPersistentChangedValues)
      try scene.context.save()
      scene.context.refreshAllObjects()
      #expect(scene.number(scene.ours) == 2)
    }
  }

  @Test("Refreshing shows the newest value, or keeps an unsaved one", arguments: Place.allCases, [false, true])
  func refresh(place: Place, keepsChanges: Bool) throws {
    try withScene(place) { scene in
      try place.set(2, of: scene.ours)
      try scene.exchange(3)
      scene.context.refresh(scene.ours, mergeChanges: keepsChanges)
      #expect(scene.number(scene.ours) == (keepsChanges ? 2 : 3))
      #expect(scene.ours.hasPersistentChangedValues == keepsChanges)
      scene.context.mergePolicy = .mergeByPropertyObjectTrump
      try scene.context.save()
      #expect(try scene.saved() == [keepsChanges ? "2 a 1" : "3 a 1"])
    }
  }

  @Test("Undo and redo restore values across saves, including others' saves in between", arguments: Place.allCases)
  func undo(place: Place) throws {
    try withScene(place) { scene in
      scene.context.undoManager = .init()
      scene.context.mergePolicy = .mergeByPropertyObjectTrump
      try place.set(2, of: scene.ours)
      try scene.context.save()
      scene.context.undo()
      try scene.context.save()
      #expect(try scene.saved() == ["1 a 1"])
      scene.context.redo()
      try scene.context.save()
      #expect(try scene.saved() == ["2 a 1"])
      scene.writer.refreshAllObjects()
      try scene.exchange(7)
      scene.context.undo()
      #expect(scene.number(scene.ours) == 1)
      try scene.context.save()
      #expect(try scene.saved() == ["1 a 1"])
      scene.context.delete(scene.ours)
      try scene.context.save()
      scene.context.undo()
      try scene.context.save()
      #expect(try scene.saved() == ["1 a 1"])
    }
  }

  @Test(
    "Removing a value that went with its row is a change, which brings the row back or is a conflict",
    arguments: Place.allCases, [MergePolicy.error, .mergeByPropertyObjectTrump])
  func removedFromDeletedRow(place: Place, policy: MergePolicy) throws {
    try withScene(place) { scene in
      scene.writer.delete(scene.theirs)
      try scene.writer.save()
      scene.context.mergePolicy = policy
      try place.set(nil, of: scene.ours)
      let error = persistError { try scene.context.save() }
      #expect(error?.code == (policy.mergeType == .error ? .mergeConflict : nil))
      #expect(try scene.saved() == (policy.mergeType == .error ? [] : ["- a 1"]))
    }
  }

  @Test("The contents of a store include elements in files, and name files that are missing", arguments: Place.allCases)
  func contents(place: Place) throws {
    try withScene(place) { scene in
      func values() throws -> [StoreContents.Content] {
        let contents = try StoreContents(readingStoreAt: scene.stack.url, registry: nil)
        let item = try contents.model.entity(named: "Item")
        var values: [StoreContents.Content] = []
        try contents.forEachObject(of: item) { object in
          values.append(try object.value(of: try #require(item.property(named: place.rawValue))))
        }
        return values
      }
      let data = StoredValue.data(LargeValueTests.data(1))
      let whole = place == .attribute ? data : .composite(["cover": data, "label": .string("a")])
      guard case .value(let found)? = try values().first else {
        Issue.record("no value")
        return
      }
      #expect(found == whole)
      let folder = ExternalDataFolder(storeAt: scene.stack.url)
      for name in folder.names() {
        try FileManager.default.removeItem(at: folder.url.appendingPathComponent(name))
        guard case .missingFile(name)? = try values().first else {
          Issue.record("no missing file")
          return
        }
      }
      try scene.exchange(2)
    }
  }
}
