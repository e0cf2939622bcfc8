import Foundation
import Testing

@testable import Persist
@testable import PersistCore
@testable import PersistModel

@Suite("Fetching")
struct FetchTests {
  @Test("Unsaved changes overlay the store's contents")
  func overlay() throws {
    try withDirtyPeople { (context: ManagedObjectContext) throws in
      #expect(try names(context.fetch(FetchRequest("Person"))) == ["alpha", "charlie", "delta", "echo"])
      let bySalary = FetchRequest("Person", sortedBy: "salary", isAscending: false)
      #expect(try names(context.fetch(bySalary)) == ["echo", "delta", "charlie", "alpha"])
      #expect(try context.count(for: bySalary) == 4)
      var stored = bySalary
      stored.includesPendingChanges = false
      #expect(try context.count(for: stored) == 3)
      #expect(try context.fetchObjectIDs(stored).count == 3)
    }
  }

  @Test("Limit and offset apply to the overlaid results (FET-10)")
  func window() throws {
    try withDirtyPeople { (context: ManagedObjectContext) throws in
      var request = FetchRequest("Person", sortedBy: [.init("salary")], limit: 2, offset: 1)
      #expect(try names(context.fetch(request)) == ["charlie", "delta"])
      #expect(try context.fetchObjectIDs(request).count == 2 && context.count(for: request) == 2)
      request.fetchOffset = 3
      #expect(try names(context.fetch(request)) == ["echo"])
      request.fetchOffset = 9
      #expect(try context.fetch(request).isEmpty && context.count(for: request) == 0)
      try context.save()
      request.fetchOffset = 1
      #expect(try names(context.fetch(request)) == ["charlie", "delta"])
    }
  }

  @Test("Fetching by identifiers returns those that exist, including unsaved ones")
  func byIdentifiers() throws {
    try withDirtyPeople { (context: ManagedObjectContext) throws in
      let all = try context.fetch(FetchRequest("Person", sortedBy: "name"))
      let request = FetchRequest("Person", objectIDs: [all[0].objectID, all[2].objectID])
      #expect(try names(context.fetch(request)) == ["alpha", "delta"])
      #expect(try context.count(for: request) == 2)
      #expect(try context.fetch(FetchRequest("Person", objectIDs: [])).isEmpty)
    }
  }

  @Test("A parent's fetch returns objects of subentities as such; a subentity's fetch only its own (FET-13)")
  func hierarchy() throws {
    try withStack(SampleModels.shapes) { stack in
      let context = stack.context()
      try context.make("Node", ["name": "node"])
      try context.make("Leaf", ["name": "leaf", "colour": "green"])
      try context.save()
      for context in [context, stack.context()] {
        let all = try context.fetch(FetchRequest("Node", sortedBy: "name"))
        #expect(all.map(\.entity.name) == ["Leaf", "Node"] && all[0]["colour"] as? String == "green")
        #expect(try context.names("Leaf") == ["leaf"])
        var exact = FetchRequest("Node")
        exact.includesSubentities = false
        #expect(try names(context.fetch(exact)) == ["node"] && context.count(for: exact) == 1)
      }
    }
  }

  @Test("Results are faults until accessed, and accessing them costs nothing more")
  func faults() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      for name in ["a", "b", "c"] { try context.make("Person", ["name": name]) }
      try context.save()
      let fresh = stack.context()
      let found = try fresh.fetch(FetchRequest("Person"))
      let areFaults = found.allSatisfy(\.isFault)
      #expect(areFaults)
      let calls = stack.store.calls
      #expect(names(found) == ["a", "b", "c"] && !found[0].isFault && stack.store.calls == calls)
      var whole = FetchRequest("Person")
      whole.returnsObjectsAsFaults = false
      let other = stack.context()
      let read = try other.fetch(whole)
      let hasFaults = read.contains(where: \.isFault)
      #expect(!hasFaults)
    }
  }

  @Test("Identifiers only: each result is read on first access")
  func keysOnly() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      for name in ["a", "b"] { try context.make("Person", ["name": name]) }
      try context.save()
      let fresh = stack.context()
      var request = FetchRequest("Person")
      request.includesPropertyValues = false
      let found = try fresh.fetch(request)
      let calls = stack.store.calls
      #expect(names(found) == ["a", "b"] && stack.store.calls == calls + 2)
    }
  }

  @Test("Null sorts before everything; texts are ordered by their bytes")
  func order() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      for name in ["b", "Z", "ä", "a"] { try context.make("Person", ["name": name]) }
      try context.make("Person")
      let request = FetchRequest("Person", sortedBy: "name")
      #expect(try context.fetch(request).map { $0["name"] as? String } == [nil, "Z", "a", "b", "ä"])
      try context.save()
      #expect(try stack.context().fetchObjectIDs(request).map(\.primaryKey) == [5, 2, 4, 1, 3])
      let bad = FetchRequest("Person", sortedBy: "height")
      #expect(persistError { _ = try context.fetch(bad) }?.code == .unknownProperty)
      #expect(persistError { _ = try context.fetch(FetchRequest("Nobody")) }?.code == .unknownEntity)
    }
  }

  @Test("Batched iteration visits every object once and retains no more than a batch")
  func batches() throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      for index in 0..<250 { try context.make("Person", ["name": String(format: "%03d", 249 - index)]) }
      try context.save()
      try context.make("Person", ["name": "unsaved"])
      for request in [FetchRequest("Person"), FetchRequest("Person", sortedBy: "name")] {
        var seen: [String] = []
        var most = 0
        try context.forEachBatch(of: request, size: 100) { group in
          seen += names(group)
          most = max(most, context.registeredObjects.count)
        }
        #expect(seen.count == 251 && Set(seen).count == 251 && most <= 101)
        if !request.sortDescriptors.isEmpty { #expect(seen == seen.sorted()) }
      }
    }
  }

  /// Three saved people, p1 to p3, and two new ones, p4 and p5.
  private func withNewPeople(_ body: (ManagedObjectContext, _ people: [ManagedObject]) throws -> Void) throws {
    try withStack(SampleModels.people) { stack in
      let context = stack.context()
      var people = try (1...3).map { try context.make("Person", ["name": "p\($0)", "salary": 5]) }
      try context.save()
      people += try (4...5).map { try context.make("Person", ["name": "p\($0)", "salary": 5]) }
      try body(context, people)
    }
  }

  @Test(
    "Batched iteration visits every object once, even if the program saves new ones meanwhile",
    arguments: [FetchRequest("Person"), FetchRequest("Person", sortedBy: "name")])
  func savingBatches(_ request: FetchRequest<ManagedObject>) throws {
    for size in 1...3 {
      try withNewPeople { context, people in
        var seen: [ManagedObject] = []
        try context.forEachBatch(of: request, size: size) { group in
          seen += group
          try context.save()
        }
        #expect(seen == people)
      }
      try withNewPeople { parent, people in
        let child = ManagedObjectContext(parent: parent)
        try child.make("Person", ["name": "p6"])
        var seen: [String] = []
        try child.forEachBatch(of: request, size: size) { group in
          seen += names(group)
          try child.save()
          try parent.save()
        }
        #expect(seen.sorted() == ["p1", "p2", "p3", "p4", "p5", "p6"])
      }
    }
  }

  @Test(
    "Batched iteration doesn't visit objects that the program has deleted or discarded meanwhile",
    arguments: [FetchRequest("Person"), FetchRequest("Person", sortedBy: "name")])
  func deletingBatches(_ request: FetchRequest<ManagedObject>) throws {
    try withNewPeople { context, people in
      var seen: [ManagedObject] = []
      try context.forEachBatch(of: request, size: 1) { group in
        seen += group
        context.delete(people[1])
        context.delete(people[4])
      }
      #expect(seen == [people[0], people[2], people[3]])
      seen = []
      try context.forEachBatch(of: request, size: 1) { group in
        seen += group
        context.rollback()
      }
      #expect(seen == [people[0], people[2]])
    }
  }

  @Test("Without an order, changed objects keep their places by key, and new ones come last")
  func places() throws {
    try withNewPeople { context, people in
      people[0]["name"] = "changed"
      people[2]["salary"] = 6
      people[2]["salary"] = 5
      let all = try FetchRequest<ManagedObject>("Person", where: "salary == 5")
      var some = all
      (some.fetchOffset, some.fetchLimit) = (1, 3)
      let child = ManagedObjectContext(parent: context)
      for (request, expected) in [(all, people), (some, Array(people[1...3]))] {
        let ids = expected.map(\.objectID)
        for context in [context, child] {
          #expect(try context.fetch(request).map(\.objectID) == ids)
          #expect(try context.fetchObjectIDs(request) == ids)
          #expect(try context.fetchBatched(request).objectIDs == ids)
        }
        var walked: [ManagedObject] = []
        try context.forEachBatch(of: request, size: 2) { group in
          #expect(group.count <= 2)
          walked += group
        }
        #expect(walked == expected)
      }
      try child.existingObject(with: people[1].objectID)["name"] = "changed in the child"
      #expect(try child.fetch(all).map(\.objectID) == people.map(\.objectID))
      #expect(try child.fetchObjectIDs(some) == people[1...3].map(\.objectID))
    }
  }

  @Test("Batched results keep new objects that are discarded later", arguments: [[], [FetchSortDescriptor("name")]])
  func discardedResults(_ order: [FetchSortDescriptor]) throws {
    let discards: [(ManagedObjectContext, ManagedObject) -> Void] = [
      { context, _ in context.rollback() }, { $0.delete($1) }, { context, _ in context.reset() },
    ]
    for discard in discards {
      try withNewPeople { context, people in
        let results = try context.fetchBatched(FetchRequest("Person", sortedBy: order))
        discard(context, people[4])
        #expect(results.count == 5 && results[4] === people[4])
        #expect(results[4].managedObjectContext == nil && results[4].objectID == people[4].objectID)
      }
      try withNewPeople { parent, people in
        let child = ManagedObjectContext(parent: parent)
        let results = try child.fetchBatched(FetchRequest("Person", sortedBy: order))
        discard(parent, people[4])
        #expect(results.count == 5 && results.map(\.objectID) == people.map(\.objectID))
      }
    }
    try withNewPeople { context, people in
      let results = try context.fetchBatched(FetchRequest("Person", sortedBy: order))
      try context.save()
      #expect(Array(results) == people)
    }
  }

  @Test("A fetched object keeps its unsaved change, and an untouched one its older values")
  func keptValues() throws {
    try withStack(SampleModels.people) { stack in
      let (a, b) = (stack.context(), stack.context())
      let alice = try a.make("Person", ["name": "Alice", "salary": 10])
      try a.save()
      let seen = try #require(try b.fetch(FetchRequest("Person")).first)
      #expect(seen["name"] as? String == "Alice")
      alice["name"] = "Alicia"
      try a.save()
      #expect(try b.fetch(FetchRequest("Person")).first?["name"] as? String == "Alice")
      b.refresh(seen, mergeChanges: false)
      #expect(seen["name"] as? String == "Alicia")
    }
  }
}
