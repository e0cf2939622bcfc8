import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

/// The law, over random work of two contexts, a child, undo and every merge policy: an object shows the value its row
/// had when it was read, one set since, or the row's current value; saved values follow the policy.
@Suite("Large values under random work")
struct LargeValueLawTests {
  private struct Values: Equatable {
    var blob: Int?
    /// The other element of a composite with a large value.
    var label: String?
    var number: Int
  }

  @Test("Random work of two contexts over a few objects", .law("large-values", short: 15, long: 2000))
  func work() throws {
    try work(on: "blob")
  }

  @Test(
    "Random work of two contexts over a few objects with a large value in a composite",
    .law("large-values-in-composites", short: 15, long: 2000))
  func compositeWork() throws {
    try work(on: "parts")
  }

  private func work(on property: String) throws {
    let model = try ManagedObjectModel(LargeValueTests.model)
    forEachSeed { seed in
      do {
        try withTemporaryStore { url in try Run(seed, property, TestStack(model, at: url)).run() }
      } catch {
        Issue.record(error)
      }
    }
  }

  private final class Run {
    private var random: SeededRandom
    private let stack: TestStack
    private let contexts: [ManagedObjectContext]
    /// The attribute with the large value: itself, or in its element `cover`.
    private let property: String
    private var next = 1
    private var log: [String] = []

    init(_ seed: UInt64, _ property: String, _ stack: TestStack) {
      self.property = property
      random = SeededRandom(seed: seed)
      self.stack = stack
      contexts = [stack.context(), stack.context()]
      for context in contexts where Bool.random(using: &random) { context.undoManager = .init() }
      for context in contexts {
        context.automaticallyMergesChangesFromParent = Int.random(in: 0..<3, using: &random) == 0
      }
    }

    private func chance(_ percent: Int) -> Bool {
      Int.random(in: 0..<100, using: &random) < percent
    }

    /// The current rows, read by a new context.
    private func stored() throws -> [Int64: Values] {
      let context = stack.context()
      let objects = try context.fetch(FetchRequest("Item"))
      let rows = Dictionary(uniqueKeysWithValues: objects.map { ($0.key, values($0)) })
      try context.save()
      return rows
    }

    private static func name(_ object: ManagedObject) -> String { object["name"] as? String ?? "" }

    private func set(_ blob: Data?, of object: ManagedObject) throws {
      try object.setValue(blob, forKeyPath: property == "parts" ? "parts.cover" : property)
    }

    private func values(_ object: ManagedObject) -> Values {
      let parts = object["parts"] as? [String: Any]
      let blob = (property == "parts" ? parts?["cover"] : object["blob"]) as? Data
      // A value's length is its number, and all its bytes are the same.
      let number = blob.map { $0.count >= 150_000 ? $0.count - 150_000 : $0.count }
      if let blob, let number, blob.count >= 150_000 {
        #expect(blob == LargeValueTests.data(number))
      }
      return Values(blob: number, label: parts?["label"] as? String, number: object["number"] as? Int ?? 0)
    }

    func run() throws {
      let maker = stack.context()
      for name in ["a", "b", "c"] {
        try set(LargeValueTests.data(next), of: maker.make("Item", ["name": name, "number": next]))
        next += 1
      }
      try maker.save()
      for _ in 0..<40 {
        let index = Int.random(in: 0..<2, using: &random)
        do { try step(index) } catch {
          throw PersistenceError(.saveFailed, "\(error) after \(log.suffix(30))")
        }
      }
    }

    private func step(_ index: Int) throws {
      let context = contexts[index]
      let objects = try context.fetch(FetchRequest("Item", sortedBy: "name"))
      guard let object = objects.randomElement(using: &random) else { return }
      let name = Self.name(object)
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1, 2:
        log.append("\(index) sets \(name).blob \(next)")
        try set(chance(15) ? nil : chance(25) ? Data(count: next) : LargeValueTests.data(next), of: object)
        next += 1
      case 3 where property == "parts" && chance(50):
        log.append("\(index) sets \(name).label \(next)")
        try object.setValue("\(next)", forKeyPath: "parts.label")
        next += 1
      case 3:
        log.append("\(index) sets \(name).number \(next)")
        object["number"] = next
        next += 1
      case 4: try check(object, index)
      case 5:
        log.append("\(index) refreshes \(name)")
        context.refresh(object, mergeChanges: chance(50))
      case 6:
        let child = ManagedObjectContext(parent: context)
        let below = child.object(with: object.objectID)
        #expect(values(below) == values(object), "child; \(log.suffix(30))")
        if chance(50) {
          log.append("child of \(index) sets \(name).blob \(next)")
          try set(LargeValueTests.data(next), of: below)
          try child.save()
          #expect(values(object).blob == next)
          next += 1
        }
      case 7: try undo(object, context, index)
      default: try save(context, index)
      }
      if chance(50) { try check(object, index) }
    }

    /// Checks that an object shows only values that were valid at some time.
    private func check(_ object: ManagedObject, _ index: Int) throws {
      guard !object.isDeleted, object.managedObjectContext != nil else { return }
      let shown = values(object)
      let now = try stored()[object.key]
      let isCurrent = try object.snapshot?.version == version(of: object)
      if !object.hasChanges, isCurrent { #expect(shown == now, "\(index) shows; \(log.suffix(30))") }
      _ = try contexts[index].fetch(FetchRequest("Item"))
    }

    private func version(of object: ManagedObject) throws -> Int64? {
      try stack.store.rows(RowQuery(entity: object.entity, keys: [object.key])).first?.snapshot?
        .version
    }

    private func undo(_ object: ManagedObject, _ context: ManagedObjectContext, _ index: Int) throws
    {
      guard context.undoManager != nil else { return }
      context.processPendingChanges()
      let name = Self.name(object)
      let before = values(object)
      log.append("\(index) changes and undoes \(name)")
      if chance(40) {
        context.delete(object)
      } else {
        try set(LargeValueTests.data(next), of: object)
        next += 1
      }
      context.processPendingChanges()
      let isSaved = chance(60)
      if isSaved {
        context.mergePolicy = .mergeByPropertyObjectTrump
        try context.save()
      }
      context.undo()
      // The save may have merged another number that others saved.
      let undone = values(object)
      #expect(
        isSaved ? undone.blob == before.blob : undone == before,
        "undone, saved \(isSaved); \(log.suffix(30))")
      if chance(50) {
        context.redo()
        context.undo()
        #expect(values(object).blob == before.blob, "redone and undone; \(log.suffix(30))")
      }
      guard isSaved else { return }
      try context.save()
      #expect(try stored()[object.key]?.blob == before.blob, "undone and saved; \(log.suffix(30))")
    }

    private func save(_ context: ManagedObjectContext, _ index: Int) throws {
      let policies: [MergePolicy] = [
        .error, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite, .rollback,
      ]
      let place = Int.random(in: 0..<policies.count, using: &random)
      context.mergePolicy = policies[place]
      log.append("\(index) saves, policy \(place)")
      context.processPendingChanges()
      let changed = context.updatedObjects.filter { !$0.changedValues().isEmpty }
      let before = try stored()
      var expected: [(object: ManagedObject, values: [Values])] = []
      for object in changed {
        guard let now = before[object.key] else { continue }
        let shown = values(object)
        let keys = Set(object.changedValues().keys)
        let isConflict = try object.snapshot?.version != version(of: object)
        let ours = Values(
          blob: keys.contains(property) ? shown.blob : now.blob,
          label: keys.contains(property) ? shown.label : now.label,
          number: keys.contains("number") ? shown.number : now.number)
        if !isConflict {
          expected.append((object, [ours]))
        } else {
          switch place {
          case 1: expected.append((object, [ours]))
          case 3: expected.append((object, [shown]))
          case 4: expected.append((object, [now]))
          default: break
          }
        }
      }
      do {
        try context.save()
      } catch let error as PersistenceError where error.code == .mergeConflict && place == 0 {
        context.rollback()
        context.refreshAllObjects()
        return
      }
      let after = try stored()
      for (object, wanted) in expected {
        let found = try #require(after[object.key])
        #expect(
          wanted.contains(found), "policy \(place): \(found), not \(wanted); \(log.suffix(30))")
        #expect(values(object) == found, "shown after the save; \(log.suffix(30))")
      }
    }
  }
}
